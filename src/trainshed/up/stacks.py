"""Whether the stacks of a cluster are deployed as its file has them."""

from trainshed.account.deployed_stacks import DeployedStack, find_stack, template_of
from trainshed.app.synthesis import SynthesisedStack
from trainshed.cost import cluster_cost
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site

# Those that the CDK CLI cannot go on from.
_STUCK = "ROLLBACK_FAILED", "DELETE_FAILED"
# Created by a change set that was not run; the CDK CLI does not wait for the others.
_NOT_BEGUN = "REVIEW_IN_PROGRESS"
_COMPLETE = "CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"
_MINUTES = 20
# Amazon EKS user guide, "Create an Amazon EKS cluster": "several minutes"; the toolkits that make
# one speak of ten.
_CONTROL_PLANE_MINUTES = 10


def look_at_stacks(site: Site) -> Look:
    """Compare what CloudFormation has with what the project's app makes."""
    stacks = site.stacks
    found = {name: find_stack(site.region, name) for name in stacks}
    left = {
        name: says
        for name, stack in stacks.items()
        if (says := _left_to_do(site, found[name], stack))
    }
    if not left:
        says = f"all {len(stacks)} are as the cluster file has them"
        return Look(state=StepState.DONE, says=says)
    says = ", ".join(f"{name} {each}" for name, each in left.items())
    statuses = [stack.status for stack in found.values() if stack]
    if any(each.endswith(_STUCK) for each in statuses):
        advice = "its events say why; what to do: docs/operate.md, The first deployment failed"
        return Look(state=StepState.BLOCKED, says=f"{says}: {advice}")
    if any(map(is_at_work, statuses)):
        return Look(state=StepState.AT_WORK, says=says)
    plan, cost = site.plan, cluster_cost(site.plan, site.prices)
    return Look(
        state=StepState.TO_DO,
        says=says,
        commands=(site.cdk("deploy", plan.name, "--require-approval=never", "--concurrency=4"),),
        minutes=_MINUTES + (_CONTROL_PLANE_MINUTES if plan.control_plane else 0),
        price=f"{cost.idle} an hour while no job runs, {cost.full} with {plan.nodes.max} nodes",
    )


def is_at_work(status: str) -> bool:
    """Return whether CloudFormation is still at work on a stack of this status."""
    return status.endswith("_IN_PROGRESS") and not status.endswith(_NOT_BEGUN)


def _left_to_do(site: Site, found: DeployedStack | None, stack: SynthesisedStack) -> str:
    """Say what is left to do for a stack; nothing when it is as it should be."""
    if found is None:
        return "is not there"
    if found.status not in _COMPLETE:
        return f"is {found.status}"
    if template_of(site.region, found) == stack.template:
        return ""
    return "differs from the cluster file (trainshed review shows what a change does)"
