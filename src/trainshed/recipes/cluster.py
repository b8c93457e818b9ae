"""A recipe on the nodes of a planned cluster."""

from collections.abc import Mapping

from trainshed.errors import TrainshedError
from trainshed.plan import ClusterPlan
from trainshed.recipes.lookup import find_recipe
from trainshed.recipes.model import JobNodes, Work


def work_on(plan: ClusterPlan, recipe: str, nodes: int, given: Mapping[str, str]) -> Work:
    """Return what a job of a recipe runs.

    Args:
        plan: of the cluster.
        recipe: its name.
        nodes: of the job.
        given: parameters that were set.

    Raises:
        TrainshedError: there is no such recipe or parameter, it is not for the cluster's nodes, a
            value is wrong, or its jobs run in no container.
    """
    found = find_recipe(recipe, plan.instance)
    if plan.jobs.image is None:
        raise TrainshedError(
            f"the recipe {recipe} runs in our container images, and jobs of {plan.name} run "
            f"on the nodes themselves (orchestrator: {plan.orchestrator}); submit a command"
        )
    mount = plan.lustre_mount
    job_nodes = JobNodes(
        instance=plan.instance, count=nodes, shared_folder=mount.path if mount else None
    )
    return found.work(job_nodes, found.read(given))


def rehearsal_on(plan: ClusterPlan, recipe: str, folder: str) -> Work:
    """Return what rehearses a recipe: the same on CPUs, small.

    Args:
        plan: of the cluster.
        recipe: its name.
        folder: that its nodes share.

    Raises:
        TrainshedError: there is no such recipe, it is not for the cluster's nodes, or it has no
            rehearsal.
    """
    found = find_recipe(recipe, plan.instance)
    if found.rehearsal is None:
        raise TrainshedError(
            f"the recipe {recipe} cannot be rehearsed: it needs {plan.instance.accelerator.name}; "
            f"submit it to the cluster: trainshed job submit {plan.name} --recipe {recipe}"
        )
    return found.rehearsal(folder)
