"""The diff of what Kubernetes has for each cluster: files `kube/*.yaml` beside the templates."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from trainshed.files import LARGEST_MADE, read_text
from trainshed.kubernetes.object_diff import field_changes
from trainshed.review.model import Effect, PropertyChange, ResourceChange, StackChange

FILES = "kube/*.yaml"
_ORDER = list(Effect)
# By file, then by kind, namespace and name.
Objects = Mapping[str, Mapping[str, Mapping[str, Any]]]


def read_objects(assembly: Path) -> Objects:
    """Return the objects in the files of a cloud assembly.

    Args:
        assembly: its folder.
    """
    return {
        str(file.relative_to(assembly)): {
            _name(each): each
            for each in YAML(typ="safe", pure=True).load_all(read_text(file, LARGEST_MADE))
        }
        for file in sorted(assembly.glob(FILES))
    }


def object_changes(before: Objects, after: Objects) -> tuple[StackChange, ...]:
    """Return what differs, as of stacks: a file for each.

    Args:
        before: those of one side.
        after: those of the other.
    """
    found = []
    for file in {**before, **after}:
        old, new = before.get(file, {}), after.get(file, {})
        changes = [
            change
            for name in {**old, **new}
            if (change := _change(file, name, old.get(name), new.get(name)))
        ]
        if changes:
            effect = Effect.CHANGED if old and new else Effect.ADDED if new else Effect.REMOVED
            found.append(
                StackChange(
                    name=file,
                    effect=effect,
                    resources=tuple(sorted(changes, key=lambda each: _ORDER.index(each.effect))),
                )
            )
    return tuple(found)


def _change(
    file: str, name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> ResourceChange | None:
    effect, properties = Effect.ADDED, tuple[PropertyChange, ...]()
    if before is not None:
        effect = Effect.REMOVED
        if after is not None:
            effect = Effect.CHANGED
            properties = tuple(
                PropertyChange(path=each.field, before=_text(each.before), after=_text(each.after))
                for each in field_changes(before, after)
            )
            if not properties:
                return None
    kind, _, called = name.partition(" ")
    return ResourceChange(
        stack=file,
        logical_id=name,
        name=called,
        resource_type=kind,
        effect=effect,
        properties=properties,
    )


def _name(each: Mapping[str, Any]) -> str:
    metadata = each["metadata"]
    space = metadata.get("namespace")
    return f"{each['kind']} {space + '/' if space else ''}{metadata['name']}"


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
