"""What a cluster of Amazon EKS needs beside its stacks: a lock, and what is applied to it."""

from trainshed.kubernetes.applying import stages_of
from trainshed.kubernetes.client import connect
from trainshed.kubernetes.cluster import NoApiServer, find_cluster
from trainshed.kubernetes.object_step import ApplyOutcome
from trainshed.orchestrators import part
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site

_MINUTES = 3
_AS_IT_SHOULD_BE = (ApplyOutcome.UNCHANGED, ApplyOutcome.LEFT)


def look_at_lock(site: Site) -> Look:
    """Whether add-ons and charts are locked."""
    plane = site.load().control_plane
    assert plane
    if plane.lock:
        return Look(state=StepState.DONE, says=f"{plane.name}.lock.json is there; commit it")
    return Look(
        state=StepState.TO_DO,
        says=f"{plane.name} has no lock of add-ons and charts",
        commands=(site.ours("kube", "lock"),),
    )


def look_at_objects(site: Site) -> Look:
    """Ask the API server what `trainshed kube apply` would change."""
    # With its lock, which may be new.
    plan = site.load()
    plane = plan.control_plane
    assert plane
    apply = site.ours("kube", "apply")
    try:
        eks = find_cluster(site.region, plane.name)
    except NoApiServer:
        says = "the control plane is deployed first"
        return Look(state=StepState.LATER, says=says, commands=(apply,), minutes=_MINUTES)
    with connect(eks) as client:
        objects = part(plan.orchestrator, "kubernetes").planned_objects(plan)
        charts, applier = stages_of(client, eks, plane, objects, lambda _: None)
        steps = (*(step for each in charts for step in each.plan()), *applier.plan())
    changed = [each.name for each in steps if each.outcome not in _AS_IT_SHOULD_BE]
    if not changed:
        return Look(state=StepState.DONE, says="all that the cluster needs is applied")
    return Look(
        state=StepState.TO_DO,
        says=f"not applied: {len(changed)}, the first of them {changed[0]}",
        commands=(apply,),
        minutes=_MINUTES,
    )
