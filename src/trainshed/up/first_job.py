"""The first job of a cluster: a check of its nodes."""

import shlex

from trainshed.account.deployed_stacks import find_stack
from trainshed.jobs.model import JobState
from trainshed.jobs.scheduler import find_scheduler
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site

HEALTH = "health"
# What is left of a first deployment that failed takes no jobs.
_FAILED_FIRST = "ROLLBACK_COMPLETE"
# Where there are no accelerators: the launcher checks that the devices of a node are there.
_WITHOUT_ACCELERATORS = 'echo "node $NODE_RANK of $NNODES takes jobs"'


def look_at_first_job(site: Site) -> Look:
    """Whether nodes of the cluster have passed their check since it was last deployed."""
    submit, stack = _submit(site), find_stack(site.region, site.plan.name)
    if stack is None or stack.status == _FAILED_FIRST or not stack.status.endswith("_COMPLETE"):
        says = "the cluster is deployed first"
        return Look(state=StepState.LATER, says=says, commands=(submit,))
    job = find_scheduler(site.region, site.plan.name).job(HEALTH)
    if job is None or job.created_at < stack.changed_at:
        says = "no node has been checked since the last deployment"
        return Look(state=StepState.TO_DO, says=says, commands=(submit,))
    there = f" --region {site.region.name}"
    if job.state is JobState.SUCCEEDED:
        nodes = f"{job.node_count} node{'s' if job.node_count > 1 else ''}"
        return Look(state=StepState.DONE, says=f"{nodes} passed, in job {job.job_id}")
    if job.state is JobState.FAILED:
        why = f"trainshed job why {job.job_id}{there}"
        return Look(
            state=StepState.TO_DO, says=f"job {job.job_id} has failed: {why}", commands=(submit,)
        )
    return Look(
        state=StepState.TO_DO,
        says=f"job {job.job_id} is {job.status}",
        commands=(f"trainshed job watch {job.job_id}{there}",),
    )


def _submit(site: Site) -> str:
    """Return the command that checks nodes: those of an embedded AWS have no accelerators."""
    line = f"{site.ours('job', 'submit')} --nodes {site.nodes} --watch"
    if site.is_embedded:
        return f"{line} --name {HEALTH} -- sh -c {shlex.quote(_WITHOUT_ACCELERATORS)}"
    return f"{line} --recipe {HEALTH}"
