"""What AWS's published schemas say about the difference between two templates of a stack."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from embedded_aws.template_diff import POLICIES, Recreation, compare
from trainshed.review.model import Effect

# Not Metadata: it changes nothing that runs.
_ATTRIBUTES = ("Condition", *POLICIES)
_IN_SUBSTITUTION = re.compile(r"\$\{(\w+)(?=[.}])")
_GUARD, _GUARDED = "Custom::ReplacementGuard", "AWS::FSx::FileSystem"
Resources = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaEffect:
    """What happens to a resource.

    Attributes:
        effect: `replaced`, `may be replaced` or `changed`.
        properties: those that force a replacement, or else those that change.
    """

    effect: Effect
    properties: tuple[str, ...]


def schema_effects(region: str, old: Resources, new: Resources) -> dict[str, SchemaEffect]:
    """Return what happens to the resources of both templates, by logical id.

    What refers to a replaced resource gets another value, which may replace it too; so this goes
    over the templates until no more is replaced.

    Args:
        region: where the stack is deployed.
        old: the resources before the change.
        new: those after it.
    """
    replaced: Set[str] = frozenset()
    while True:
        found = {
            name: effect
            for name in old.keys() & new.keys()
            if (effect := _effect(region, old[name], _with_new_ids(new[name], replaced)))
        }
        for guarded, properties in _guarded(old, new):
            if guarded not in found or found[guarded].effect is not Effect.REPLACED:
                found[guarded] = SchemaEffect(effect=Effect.REPLACED, properties=properties)
        now = {name for name, each in found.items() if each.effect is Effect.REPLACED}
        if now == replaced:
            return found
        replaced = now


def _effect(region: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> SchemaEffect | None:
    if old["Type"] != new["Type"]:
        return SchemaEffect(effect=Effect.REPLACED, properties=("Type",))
    changes = compare(new["Type"], region, old.get("Properties", {}), new.get("Properties", {}))
    for recreation, effect in (
        (Recreation.ALWAYS, Effect.REPLACED),
        (Recreation.CONDITIONALLY, Effect.MAY_BE_REPLACED),
    ):
        if forcing := [change.path for change in changes if change.recreation is recreation]:
            return SchemaEffect(effect=effect, properties=_names(forcing))
    names = (*_names(change.path for change in changes), *_differing(old, new, _ATTRIBUTES))
    return SchemaEffect(effect=Effect.CHANGED, properties=names) if names else None


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
