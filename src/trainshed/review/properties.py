"""Which properties of a resource differ, and which of them force a replacement."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainshed.review.differences import ResourceDifference
from trainshed.review.effects import REPLACES, SILENT
from trainshed.review.leaves import leaves
from trainshed.review.model import Effect, PropertyChange
from trainshed.review.published_schemas import SchemaEffect
from trainshed.review.values import Names, short

_REPLACING = (Effect.REPLACED, Effect.MAY_BE_REPLACED)
_INDEX = re.compile(r"\[[^\]]*\]")


def properties(
    found: ResourceDifference | None,
    ours: SchemaEffect | None,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    called: Names,
) -> tuple[PropertyChange, ...]:
    """Return the properties and attributes that differ: those that force a replacement first.

    Args:
        found: what the engine says about the resource.
        ours: what the schemas say about it.
        before: the resource.
        after: the resource.
        called: the names of what values refer to.
    """
    if before["Type"] != after["Type"]:
        return (
            PropertyChange(path="Type", before=before["Type"], after=after["Type"], replaces=True),
        )
    forcing = ours.properties if ours and ours.effect in _REPLACING else ()
    changes = [
        replace(change, replaces=change.replaces or any(_is(change, name) for name in forcing))
        for change in (_found(found, called) if found else ())
    ]
    # What refers to a resource that is replaced looks the same in both templates.
    for name in ours.properties if ours else ():
        if not any(_is(change, name) for change in changes):
            was, will_be = (short(_at(side, name), called) for side in (before, after))
            changes.append(
                PropertyChange(
                    path=name,
                    before=was,
                    after=f"{will_be} (replaced)",
                    replaces=name in forcing,
                )
            )
    return tuple(sorted(changes, key=lambda change: not change.replaces))


def _found(found: ResourceDifference, called: Names) -> Iterator[PropertyChange]:
    for name, each in found.properties.items():
        for leaf in leaves(name, each.before, each.after, called):
            yield replace(leaf, replaces=each.impact in REPLACES)
    for name, each in found.attributes.items():
        if name not in SILENT:
            yield from leaves(name, each.before, each.after, called)


def _is(change: PropertyChange, name: str) -> bool:
    """Return whether a change is of, or within, a property of a name.

    `ReplacementGuard` names those of a file system without what they stand in.
    """
    path = f".{_INDEX.sub('', change.path)}."
    return path.startswith(f".{name}.") or path.endswith(f".{name}.")


def _at(resource: Mapping[str, Any], path: str) -> Any:
    value: Any = resource.get("Properties", {})
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
