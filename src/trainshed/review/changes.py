"""The diff by meaning: what differs between templates, and what that does to the resources."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trainshed.app.synthesis import SynthesisedStack
from trainshed.review.differences import TemplateDifference
from trainshed.review.effects import is_kept, worse_effect
from trainshed.review.engine import differences
from trainshed.review.leaves import leaves
from trainshed.review.model import Effect, Permission, ResourceChange, StackChange
from trainshed.review.permissions import permissions, security_rules
from trainshed.review.properties import properties
from trainshed.review.published_schemas import schema_effects
from trainshed.review.values import Names, names

_ORDER = list(Effect)
# The version of CDK, for AWS's statistics.
_NOISE = ("AWS::CDK::Metadata", "CDKMetadataAvailable")
Stacks = Mapping[str, SynthesisedStack]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateComparison:
    """What differs between two versions of an app's templates.

    Attributes:
        stacks: those in which something differs, with the worst effect first.
        permissions: of IAM, gained first.
        security_rules: of security groups, gained first.
        differences: what the engine says, by stack.
    """

    stacks: tuple[StackChange, ...]
    permissions: tuple[Permission, ...]
    security_rules: tuple[Permission, ...]
    differences: Mapping[str, TemplateDifference]


def compare_templates(before: Stacks, after: Stacks, folder: Path) -> TemplateComparison:
    """Compare the templates of two versions of an app.

    Args:
        before: the stacks of one, by name.
        after: those of the other.
        folder: of the project, whose `node_modules` has the engine.

    Raises:
        TrainshedError: Node or the engine is not there.
        Failure: the engine cannot compare them.
    """
    found = differences(
        {name: (_template(before, name), _template(after, name)) for name in {**before, **after}},
        folder,
    )
    stacks, permitted, rule_changes = [], [], []
    for name, difference in found.items():
        called = names(name, before, after)
        changes = sorted(
            (
                *_resources(name, difference, before, after, called),
                *_sections(name, difference, called),
            ),
            key=lambda change: _ORDER.index(change.effect),
        )
        if changes:
            effect = _stack_effect(name, before, after)
            stacks.append(StackChange(name=name, effect=effect, resources=tuple(changes)))
        permitted += permissions(name, difference, called)
        rule_changes += security_rules(name, difference, called)
    return TemplateComparison(
        stacks=tuple(sorted(stacks, key=lambda stack: _ORDER.index(stack.resources[0].effect))),
        permissions=tuple(sorted(permitted, key=lambda each: not each.gained)),
        security_rules=tuple(sorted(rule_changes, key=lambda each: not each.gained)),
        differences=found,
    )


def _template(side: Stacks, name: str) -> Mapping[str, Any]:
    return side[name].template if name in side else {}


def _stack_effect(name: str, before: Stacks, after: Stacks) -> Effect:
    if name not in before:
        return Effect.ADDED
    return Effect.CHANGED if name in after else Effect.REMOVED


def _resources(
    stack: str,
    difference: TemplateDifference,
    before: Stacks,
    after: Stacks,
    called: Names,
) -> Iterator[ResourceChange]:
    old, new = (_template(side, stack).get("Resources", {}) for side in (before, after))
    by_schemas = schema_effects((after if stack in after else before)[stack].region, old, new)
    for logical_id in {**old, **new}:
        was, will_be = old.get(logical_id), new.get(logical_id)
        resource_type = (will_be or old[logical_id])["Type"]
        found, ours = difference.resources.get(logical_id), by_schemas.get(logical_id)
        effect = worse_effect(found, ours)
        if effect is None or resource_type in _NOISE:
            continue
        yield ResourceChange(
            stack=stack,
            logical_id=logical_id,
            name=called.of(logical_id),
            resource_type=resource_type,
            effect=effect,
            kept=is_kept(effect, was, will_be),
            properties=properties(found, ours, was, will_be, called) if was and will_be else (),
        )


def _sections(
    stack: str, difference: TemplateDifference, called: Names
) -> Iterator[ResourceChange]:
    for section, entries in difference.sections.items():
        kind = section.removesuffix("s")
        for name, each in entries.items():
            if name in _NOISE:
                continue
            effect = Effect.CHANGED
            if each.before is None or each.after is None:
                effect = Effect.ADDED if each.before is None else Effect.REMOVED
            # A parameter whose value is not to be shown.
            secret = any((side or {}).get("NoEcho") for side in (each.before, each.after))
            found = leaves(kind, each.before, each.after, called, secret=secret)
            yield ResourceChange(
                stack=stack,
                logical_id=name,
                name=name,
                resource_type=kind,
                effect=effect,
                properties=tuple(
                    replace(change, path=change.path.removeprefix(f"{kind}.")) for change in found
                )
                if effect is Effect.CHANGED
                else (),
            )
