"""Whether the stacks of a cluster are deployed as its file has them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack, find_stack, template_of
from trainshed.app.synthesis import SynthesisedStack
from trainshed.cost import cluster_cost
from trainshed.up.model import Look, StepState
from trainshed.up.site import Site

# Those that a deployment cannot go on from before somebody has found out why.
_STUCK = "ROLLBACK_FAILED", "UPDATE_ROLLBACK_FAILED", "IMPORT_ROLLBACK_FAILED", "DELETE_FAILED"
# What is left of a first deployment that failed; the CDK CLI deletes it and begins anew.
_FAILED_FIRST = "ROLLBACK_COMPLETE"
_MINUTES = 20
# Amazon EKS user guide, "Create an Amazon EKS cluster": "several minutes"; the toolkits that make
# one speak of ten.
_CONTROL_PLANE_MINUTES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StackState:
    """A stack as the project's app makes it, and as CloudFormation has it.

    Attributes:
        made: by the app.
        found: what is there under its name; None for nothing.
        template: that is deployed; empty for nothing.
    """

    made: SynthesisedStack
    found: DeployedStack | None
    template: Mapping[str, Any]

    @property
    def left_to_do(self) -> str:
        """What is left to do for it; nothing when it is as it should be."""
        if self.found is None:
            return "is not there"
        if not self.found.is_whole:
            return f"is {self.found.status}"
        if _without_metadata(self.template) == _without_metadata(self.made.template):
            return ""
        return "differs from the cluster file (trainshed apply --plan shows what a change does)"


def _without_metadata(template: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a template without what the CDK CLI has the app add for AWS's statistics.

    It does, unless `versionReporting` in cdk.json is false, and our own synthesis does not. CDK
    developer guide, "Configure AWS CDK usage data reporting".
    """
    resources, conditions = (
        {
            name: each
            for name, each in template.get(section, {}).items()
            if name not in ("CDKMetadata", "CDKMetadataAvailable")
        }
        for section in ("Resources", "Conditions")
    )
    rest = {name: each for name, each in template.items() if name != "Conditions"}
    return {**rest, "Resources": resources, **({"Conditions": conditions} if conditions else {})}


def stack_states(site: Site) -> dict[str, StackState]:
    """Return the stacks of a cluster by name, in the order of their deployment."""
    return {name: _state(site, name, made) for name, made in site.stacks.items()}


def _state(site: Site, name: str, made: SynthesisedStack) -> StackState:
    found = find_stack(site.region, name)
    there = found is not None and found.is_begun and found.status != _FAILED_FIRST
    template = template_of(site.region, found) if found and there else {}
    # Text is YAML, which no app makes.
    return StackState(
        made=made, found=found, template=template if isinstance(template, Mapping) else {}
    )


def stuck_stacks(states: Mapping[str, StackState]) -> str:
    """Say which stacks no deployment can go on from, and what to do; nothing when there is none."""
    stuck = [
        f"{name} {each.left_to_do}"
        for name, each in states.items()
        if each.found and each.found.status in _STUCK
    ]
    advice = "its events say why; what to do: docs/operate.md, The first deployment failed"
    return f"{', '.join(stuck)}: {advice}" if stuck else ""


def look_at_stacks(site: Site) -> Look:
    """Compare what CloudFormation has with what the project's app makes."""
    states = stack_states(site)
    left = {name: each.left_to_do for name, each in states.items() if each.left_to_do}
    if not left:
        says = f"all {len(states)} are as the cluster file has them"
        return Look(state=StepState.DONE, says=says)
    if stuck := stuck_stacks(states):
        return Look(state=StepState.BLOCKED, says=stuck)
    says = ", ".join(f"{name} {each}" for name, each in left.items())
    if any(each.found.is_at_work for each in states.values() if each.found):
        return Look(state=StepState.AT_WORK, says=says)
    plan, cost = site.plan, cluster_cost(site.plan, site.prices)
    return Look(
        state=StepState.TO_DO,
        says=says,
        commands=(site.cdk("deploy", plan.name, "--require-approval=never", "--concurrency=4"),),
        minutes=_MINUTES + (_CONTROL_PLANE_MINUTES if plan.control_plane else 0),
        price=f"{cost.idle} an hour while no job runs, {cost.full} with {plan.nodes.max} nodes",
    )
