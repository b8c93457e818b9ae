"""What differs between two templates of a stack, and what CloudFormation would make of it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile
from typing import Any

from embedded_aws.template_diff import DELETION, POLICIES, REPLACEMENT, Recreation, compare
from trainshed.synthesis import SynthesisedStack

_KEPT_BY = (DELETION, REPLACEMENT)
# Not Metadata: it changes nothing that runs.
_ATTRIBUTES = ("Condition", *POLICIES)
_IN_SUBSTITUTION = re.compile(r"\$\{(\w+)(?=[.}])")
_GUARD, _GUARDED = "Custom::ReplacementGuard", "AWS::FSx::FileSystem"
Resources = Mapping[str, Mapping[str, Any]]


class Effect(StrEnum):
    """What happens to a resource, the worst first."""

    REPLACED = "replaced"
    REMOVED = "removed"
    MAY_BE_REPLACED = "may be replaced"
    CHANGED = "changed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChange:
    """A resource that differs.

    Attributes:
        stack: name of its stack.
        logical_id: in the template; of a stack its name.
        effect: what happens to it.
        resource_type: for instance `AWS::FSx::FileSystem`.
        name: path of its construct in the stack, or else its logical id.
        properties: those that force a replacement, or else those that change.
        holds_data: a policy of its template keeps it, as it does for what holds data.
    """

    stack: str
    logical_id: str
    effect: Effect
    resource_type: str
    name: str
    properties: tuple[str, ...] = ()
    holds_data: bool = False

    @property
    def data_at_risk(self) -> bool:
        """Whether the cluster would lose sight of data."""
        return self.holds_data and self.effect not in (Effect.CHANGED, Effect.ADDED)


def template_changes(
    before: Mapping[str, SynthesisedStack], after: Mapping[str, SynthesisedStack]
) -> list[TemplateChange]:
    """Return what differs: data at risk first, then stack by stack, the worst effect first.

    Stacks that only one side has are one change each, of the type `stack`.
    """
    found = [change for name in {**before, **after} for change in _stack(name, before, after)]
    return sorted(found, key=lambda change: not change.data_at_risk)


def _stack(
    name: str, before: Mapping[str, SynthesisedStack], after: Mapping[str, SynthesisedStack]
) -> Iterator[TemplateChange]:
    if name not in before or name not in after:
        effect = Effect.ADDED if name in after else Effect.REMOVED
        yield TemplateChange(
            stack=name, logical_id=name, effect=effect, resource_type="stack", name=name
        )
        return
    order = list(Effect)
    changes = _resources(name, before[name], after[name])
    yield from sorted(changes, key=lambda change: order.index(change.effect))


def _resources(
    name: str, before: SynthesisedStack, after: SynthesisedStack
) -> Iterator[TemplateChange]:
    old, new = (side.template.get("Resources", {}) for side in (before, after))
    changed = _changed(after.region, old, new)
    for logical_id in {**old, **new}:
        sides = [side[logical_id] for side in (old, new) if logical_id in side]
        if len(sides) == 2:
            effect, properties = changed[logical_id]
        else:
            effect, properties = Effect.ADDED if logical_id in new else Effect.REMOVED, ()
        if effect:
            yield TemplateChange(
                stack=name,
                logical_id=logical_id,
                effect=effect,
                resource_type=sides[-1]["Type"],
                name=(after if logical_id in new else before).name(logical_id),
                properties=properties,
                holds_data=any(
                    side.get(policy, "Delete") != "Delete" for side in sides for policy in _KEPT_BY
                ),
            )


def _changed(
    region: str, old: Resources, new: Resources
) -> dict[str, tuple[Effect | None, tuple[str, ...]]]:
    """Return the effect on each resource of both sides, and the properties that have it.

    What refers to a replaced resource gets another value, which may replace it too; so this goes
    over the templates until no more is replaced.
    """
    replaced: Set[str] = frozenset()
    while True:
        found = {
            name: _effect(region, old[name], _with_new_ids(new[name], replaced))
            for name in old.keys() & new.keys()
        }
        for guarded, properties in _guarded(old, new):
            if found[guarded][0] is not Effect.REPLACED:
                found[guarded] = Effect.REPLACED, properties
        now = {name for name, (effect, _) in found.items() if effect is Effect.REPLACED}
        if now == replaced:
            return found
        replaced = now


def _effect(
    region: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[Effect | None, tuple[str, ...]]:
    if old["Type"] != new["Type"]:
        return Effect.REPLACED, ("Type",)
    changes = compare(new["Type"], region, old.get("Properties", {}), new.get("Properties", {}))
    for recreation, effect in (
        (Recreation.ALWAYS, Effect.REPLACED),
        (Recreation.CONDITIONALLY, Effect.MAY_BE_REPLACED),
    ):
        if forcing := [change.path for change in changes if change.recreation is recreation]:
            return effect, _names(forcing)
    names = (*_names(change.path for change in changes), *_differing(old, new, _ATTRIBUTES))
    return (Effect.CHANGED, names) if names else (None, ())


def _names(paths: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return paths as text, each up to the function that gives the value."""
    plain = (takewhile(lambda key: key != "Ref" and "Fn::" not in key, path) for path in paths)
    return tuple(dict.fromkeys(".".join(path) for path in plain))


def _differing(
    old: Mapping[str, Any], new: Mapping[str, Any], names: Iterable[str]
) -> tuple[str, ...]:
    return tuple(name for name in names if old.get(name) != new.get(name))


def _with_new_ids(value: Any, replaced: Set[str]) -> Any:
    """Return a part of a template in which references to replaced resources differ from before."""
    match value:
        case {"Ref": str(name)} if name in replaced:
            return {"Ref": f"{name} (new)"}
        case {"Fn::GetAtt": [name, *attribute]} if name in replaced:
            return {"Fn::GetAtt": [f"{name} (new)", *attribute]}
        case dict():
            return {key: _with_new_ids(item, replaced) for key, item in value.items()}
        case list():
            return [_with_new_ids(item, replaced) for item in value]
        case str():
            return _IN_SUBSTITUTION.sub(
                lambda found: found[0] + " (new)" * (found[1] in replaced), value
            )
    return value


def _guarded(old: Resources, new: Resources) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield file systems that their `ReplacementGuard` says are replaced, and the properties.

    AWS's published schema of a file system leaves out most of those that force it.
    """
    for guard in old.keys() & new.keys():
        if not old[guard]["Type"] == new[guard]["Type"] == _GUARD:
            continue
        was, will_be = (side[guard]["Properties"]["FileSystem"] for side in (old, new))
        names = sorted({*was, *will_be} - {"StorageCapacity"})
        forcing = _differing(was, will_be, names)
        for name in old.keys() & new.keys():
            it = new[name]
            if forcing and it["Type"] == _GUARDED and guard in it.get("DependsOn", ()):
                yield name, forcing
