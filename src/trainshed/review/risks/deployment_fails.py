"""What CloudFormation or trainshed itself refuses, so that a deployment is rolled back.

CloudFormation refuses that an export goes, or gets another value, while a stack that is deployed
imports it; and a deployment starts with the stack that exports: README of aws-cdk-lib, "Removing
automatic cross-stack references".
"""

from collections.abc import Collection, Iterator
from typing import Any

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.changes import Stacks, TemplateComparison
from trainshed.review.model import Effect, Level, Risk, RiskKind
from trainshed.review.risks.affected import leaves_of

_GUARD = "Custom::NetworkGuard"
_ENDS = {"Ref", "Fn::GetAtt[0]"}


def exports_in_use(before: Stacks, after: Stacks, comparison: TemplateComparison) -> Iterator[Risk]:
    """Yield stacks whose exports go, or get another value, while others import them."""
    there = {export for stack in before.values() for export in _exports(stack)}
    # Large fleets have large templates, so each is searched once.
    imported = {name: _imports(stack) for name, stack in before.items()}
    replaced = {
        (each.stack, each.logical_id)
        for stack in comparison.stacks
        for each in stack.resources
        if each.effect is Effect.REPLACED
    }
    for name, old in before.items():
        if name not in after:
            continue
        kept = _exports(after[name])
        changed = [
            export
            for export, value in _exports(old).items()
            if kept.get(export) != value or replaced & {(name, each) for each in _sources(value)}
        ]
        importers = {
            export: [
                other
                for other, exports in imported.items()
                if export in exports and before[other].region == old.region
            ]
            for export in changed
        }
        refused = {export: users for export, users in importers.items() if users}
        if refused:
            changes = [
                f"{_called(old, export)} {'gets another value' if export in kept else 'goes'} "
                f"(imported by {', '.join(users)})"
                for export, users in refused.items()
            ]
            everyone = dict.fromkeys(user for users in refused.values() for user in users)
            yield _risk(
                name,
                "Outputs",
                f"AWS refuses to change what deployed stacks import: {'; '.join(changes)}",
                _remedy(everyone, after, there - refused.keys()),
            )


def moves_between_networks(before: Stacks, after: Stacks) -> Iterator[Risk]:
    """Yield networks to which stacks are to move, which `NetworkGuard` refuses."""
    exporters = {export: name for name, stack in before.items() for export in _exports(stack)}
    for name, stack in after.items():
        for logical_id, resource in stack.template.get("Resources", {}).items():
            if resource["Type"] != _GUARD:
                continue
            users = [user for user in resource["Properties"]["Users"] if user in before]
            # Clusters import from their control plane, which is in this network, too.
            here = {name, *_guarded(before, name), *users}
            homes = {
                user: {exporters[each] for each in _imports(before[user]) if each in exporters}
                for user in users
            }
            moving = {user: old - here for user, old in homes.items() if old - here}
            if moving:
                yield _risk(
                    name,
                    stack.name(logical_id),
                    f"NetworkGuard stops it: {', '.join(moving)} cannot move from "
                    f"{', '.join(sorted(set().union(*moving.values())))} to {name}",
                    f"undo the change; or before it, tear down {', '.join(moving)}; or describe a "
                    "second cluster (docs/operate.md says what stays)",
                )


def _guarded(stacks: Stacks, network: str) -> Iterator[str]:
    """Yield the stacks that are in a network, as its guard says."""
    if network in stacks:
        for resource in stacks[network].template.get("Resources", {}).values():
            if resource["Type"] == _GUARD:
                yield from resource["Properties"]["Users"]


def other_types(before: Stacks, after: Stacks) -> Iterator[Risk]:
    """Yield resources that are to be of another type, which CloudFormation refuses."""
    for name, stack in before.items():
        new = after[name].template.get("Resources", {}) if name in after else {}
        for logical_id, resource in stack.template.get("Resources", {}).items():
            if logical_id in new and new[logical_id]["Type"] != resource["Type"]:
                adopts = new[logical_id]["Type"].startswith("Custom::Existing")
                yield _risk(
                    name,
                    stack.name(logical_id),
                    "AWS refuses to change the type of a resource, from "
                    f"{resource['Type']} to {new[logical_id]['Type']}",
                    f"before it, tear down the clusters that use {name}, and {name}; what is in "
                    "their file systems stays (docs/operate.md)"
                    if adopts
                    else "give the new resource another logical id, by another id of its "
                    "construct, and ask what happens to the old one",
                )


def _risk(stack: str, resource: str, message: str, remedy: str) -> Risk:
    return Risk(
        kind=RiskKind.DEPLOYMENT_FAILS,
        level=Level.MEDIUM,
        stack=stack,
        resource=resource,
        message=message,
        remedy=remedy,
    )


def _remedy(users: Collection[str], after: Stacks, there: set[str]) -> str:
    """Say how users give up what they import: by an update of their own, or by their deletion.

    Args:
        users: stacks.
        after: those that can be updated.
        there: exports that they may import after an update.
    """
    alone = [user for user in users if user in after and _imports(after[user]) <= there]
    # A stack comes after those that it uses, and goes before them.
    deleted = [user for user in reversed([*users]) if user not in alone]
    steps = []
    if alone:
        steps.append(f"run npx cdk deploy --exclusively {' '.join(alone)}")
    if deleted:
        steps.append(f"tear down {', '.join(deleted)}")
    return f"before it, {', then '.join(steps)} (docs/operate.md)"


def _exports(stack: SynthesisedStack) -> dict[str, Any]:
    """Return the values that a stack exports, by the names of the exports."""
    return {
        name: output.get("Value")
        for output in stack.template.get("Outputs", {}).values()
        if isinstance(name := output.get("Export", {}).get("Name"), str)
    }


def _imports(stack: SynthesisedStack) -> set[str]:
    leaves = leaves_of(stack.template)
    return {str(value) for path, value in leaves if path.endswith("Fn::ImportValue")}


def _sources(value: Any) -> list[str]:
    """Return the logical ids of what a value is made of."""
    return [leaf for path, leaf in leaves_of(value) if path.rpartition(".")[2] in _ENDS]


def _called(stack: SynthesisedStack, export: str) -> str:
    """Return the names of the resources that an export is of, or else its own."""
    return ", ".join(map(stack.name, _sources(_exports(stack)[export]))) or export
