"""A ready job on the nodes of a planned cluster."""

from collections.abc import Mapping

from trainshed.errors import TrainshedError
from trainshed.plan import ClusterPlan
from trainshed.ready_jobs.lookup import find_ready_job
from trainshed.ready_jobs.model import JobNodes, Work


def work_on(plan: ClusterPlan, ready_job: str, nodes: int, given: Mapping[str, str]) -> Work:
    """Return what a job of a ready job runs.

    Args:
        plan: of the cluster.
        ready_job: its name.
        nodes: of the job.
        given: parameters that were set.

    Raises:
        TrainshedError: there is no such ready job or parameter, it is not for the cluster's nodes,
            a value is wrong, or the cluster's jobs run in no container.
    """
    found = find_ready_job(ready_job, plan.instance)
    if plan.jobs.image is None:
        raise TrainshedError(
            f"ready job {ready_job} runs in our container images, and jobs of {plan.name} run "
            f"on the nodes themselves (orchestrator: {plan.orchestrator}); submit a command"
        )
    job_nodes = JobNodes(
        instance=plan.instance,
        count=nodes,
        shared_folder=plan.lustre.mount if plan.lustre else None,
    )
    return found.work(job_nodes, found.read(given))


def rehearsal_on(plan: ClusterPlan, ready_job: str, folder: str) -> Work:
    """Return what rehearses a ready job: the same on CPUs, small.

    Args:
        plan: of the cluster.
        ready_job: its name.
        folder: that its nodes share.

    Raises:
        TrainshedError: there is no such ready job, it is not for the cluster's nodes, or it has no
            rehearsal.
    """
    found = find_ready_job(ready_job, plan.instance)
    if found.rehearsal is None:
        raise TrainshedError(
            f"ready job {ready_job} cannot be rehearsed: it needs "
            f"{plan.instance.accelerator.name}; "
            f"submit it to the cluster: trainshed job submit {plan.name} --recipe {ready_job}"
        )
    return found.rehearsal(folder)
