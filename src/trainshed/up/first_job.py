"""The first job of a cluster: a check of its nodes."""

import shlex

from trainshed.account.deployed_stacks import find_stack
from trainshed.cost import cluster_cost
from trainshed.jobs.model import JobState
from trainshed.jobs.scheduler import find_scheduler
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site

_HEALTH = "health"
_MINUTES = 20
# Where there are no accelerators: the launcher checks that the devices of a node are there.
_WITHOUT_ACCELERATORS = 'echo "node $NODE_RANK of $NNODES takes jobs"'


def look_at_first_job(site: Site) -> Look:
    """Whether nodes of the cluster have passed their check since it was last deployed."""
    stack = find_stack(site.region, site.plan.name)
    if stack is None or not stack.is_whole:
        return _to_submit(site, StepState.LATER, "the cluster is deployed first")
    job = find_scheduler(site.region, site.plan.name).job(_HEALTH)
    if job is None or job.created_at < stack.changed_at:
        says = "no node has been checked since the last deployment"
        return _to_submit(site, StepState.TO_DO, says)
    there = f" --region {site.region.name}"
    if job.state is JobState.SUCCEEDED:
        nodes = f"{job.node_count} node{'s' if job.node_count > 1 else ''}"
        return Look(state=StepState.DONE, says=f"{nodes} passed, in job {job.job_id}")
    if job.state is JobState.FAILED:
        why = f"trainshed job why {job.job_id}{there}"
        return _to_submit(site, StepState.TO_DO, f"job {job.job_id} has failed: {why}")
    return Look(
        state=StepState.TO_DO,
        says=f"job {job.job_id} is {job.status}",
        commands=(f"trainshed job watch {job.job_id}{there}",),
        minutes=_MINUTES,
    )


def _to_submit(site: Site, state: StepState, says: str) -> Look:
    """Say how nodes are checked: those of an embedded AWS have no accelerators."""
    line = f"{site.ours('job', 'submit')} --nodes {site.nodes} --watch"
    if site.is_embedded:
        line += f" --name {_HEALTH} -- sh -c {shlex.quote(_WITHOUT_ACCELERATORS)}"
    else:
        line += f" --recipe {_HEALTH}"
    run = cluster_cost(site.plan, site.prices, nodes=site.nodes, hours=_MINUTES / 60).run
    assert run
    return Look(
        state=state,
        says=says,
        commands=(line,),
        minutes=_MINUTES,
        price=f"{run.cost} for that time",
    )
