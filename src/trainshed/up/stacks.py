"""Whether the stacks of a cluster are deployed as its file has them."""

from trainshed.account.deployed_stacks import find_stack, template_of
from trainshed.app.synthesis import SynthesisedStack
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site

# Those that the CDK CLI cannot go on from.
_STUCK = "ROLLBACK_FAILED", "DELETE_FAILED"
# Created by a change set that was not run; the CDK CLI does not wait for the others.
_NOT_BEGUN = "REVIEW_IN_PROGRESS"
_COMPLETE = "CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE"


def look_at_stacks(site: Site) -> Look:
    """Compare what CloudFormation has with what the project's app makes."""
    stacks = site.synthesise()
    open_ones = {
        name: says for name, stack in stacks.items() if (says := _left_to_do(site, name, stack))
    }
    if not open_ones:
        return Look(
            state=StepState.DONE, says=f"all {len(stacks)} are as the cluster file has them"
        )
    says = ", ".join(f"{name} {each}" for name, each in open_ones.items())
    if any(each.endswith(_STUCK) for each in open_ones.values()):
        advice = "its events say why; what to do: docs/operate.md, The first deployment failed"
        return Look(state=StepState.BLOCKED, says=f"{says}: {advice}")
    if any(map(is_at_work, open_ones.values())):
        return Look(state=StepState.AT_WORK, says=says)
    deploy = site.cdk("deploy", site.plan.name, "--require-approval=never", "--concurrency=4")
    return Look(state=StepState.TO_DO, says=says, commands=(deploy,))


def is_at_work(status: str) -> bool:
    """Return whether CloudFormation is still at work on a stack of this status."""
    return status.endswith("_IN_PROGRESS") and not status.endswith(_NOT_BEGUN)


def _left_to_do(site: Site, name: str, stack: SynthesisedStack) -> str:
    """Say what is left to do for a stack; nothing when it is as it should be."""
    found = find_stack(site.region, name)
    if found is None:
        return "is not there"
    if found.status not in _COMPLETE:
        return f"is {found.status}"
    if template_of(site.region, found) == stack.template:
        return ""
    return "differs from the cluster file (trainshed review shows what a change does)"
