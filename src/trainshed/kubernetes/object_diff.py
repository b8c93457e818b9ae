"""What differs between an object as a server has it, and as it would have it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Of the server's own bookkeeping, which changes with every write.
_BOOKKEEPING = frozenset(
    {"generation", "managedFields", "resourceVersion", "creationTimestamp", "uid"}
)
_COUNTED = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field that gets another value.

    Attributes:
        field: its path, for instance `spec.template.spec.containers[0].image`.
        before: the value; None when it is not there.
        after: the value; None when it goes.
    """

    field: str
    before: Any
    after: Any


def field_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """Return the fields that differ, but for the status and the server's bookkeeping."""
    return tuple(_changes("", _shown(before), _shown(after)))


def _shown(found: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {
        key: value for key, value in found.get("metadata", {}).items() if key not in _BOOKKEEPING
    }
    if annotations := metadata.get("annotations"):
        metadata["annotations"] = {
            key: value for key, value in annotations.items() if key != _COUNTED
        }
    return {key: value for key, value in found.items() if key != "status"} | {"metadata": metadata}


def _changes(path: str, before: Any, after: Any) -> Iterator[FieldChange]:
    match before, after:
        case dict(), dict():
            for key in (*before, *(key for key in after if key not in before)):
                yield from _changes(
                    f"{path}.{key}" if path else key, before.get(key), after.get(key)
                )
        case list(), list() if len(before) == len(after):
            for index, pair in enumerate(zip(before, after, strict=True)):
                yield from _changes(f"{path}[{index}]", *pair)
        case _ if before != after:
            yield FieldChange(field=path, before=before, after=after)
