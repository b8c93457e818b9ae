"""Which properties differ, and whether a difference makes another resource."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from embedded_aws.cloudformation.schema import Path, Schema, schema_of, values_at
from embedded_aws.cloudformation.template.scope import Unknown, text, unknown_in


class Recreation(StrEnum):
    """Whether a change of a property makes another resource."""

    NEVER = "Never"
    CONDITIONALLY = "Conditionally"
    ALWAYS = "Always"


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyChange:
    """One changed property.

    Attributes:
        path: of the property, from the top.
        recreation: what the change asks for.
        unknown: parts of its new value that are known only after another resource has changed.
        parameters: names of changed parameters to which it refers.
    """

    path: Path
    recreation: Recreation
    unknown: tuple[Unknown, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def dynamic(self) -> bool:
        """Whether only the execution shows that it changes."""
        return bool(self.unknown) and not self.parameters


# Types with a property that says whether the conditionally create-only ones replace, and
# its value that says so, which is the default.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-batch-computeenvironment.html
# https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ssm-document.html
_REPLACES: Final[Mapping[str, tuple[str, str]]] = {
    "AWS::Batch::ComputeEnvironment": ("ReplaceComputeEnvironment", "true"),
    "AWS::SSM::Document": ("UpdateMethod", "Replace"),
}


def compare(
    resource_type: str, region: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Sequence[PropertyChange]:
    """Return the changed properties of a resource.

    Args:
        resource_type: for instance `AWS::EC2::Subnet`.
        region: for instance `us-west-2`.
        before: resolved properties as they are.
        after: resolved properties as desired; may wait for resources (`Unknown`).
    """
    schema = schema_of(resource_type, region)
    return [
        PropertyChange(
            path=path,
            recreation=_recreation(path, resource_type, schema, before, after),
            unknown=tuple(unknown_in(next(values_at(after, path), None))),
        )
        for path in _differences(before, after, ())
    ]


def _differences(before: Any, after: Any, path: Path) -> list[Path]:
    """Paths at which two values differ, lists taken whole."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        keys = dict.fromkeys([*before, *after])
        return [
            found
            for key in keys
            for found in _differences(before.get(key), after.get(key), (*path, key))
        ]
    return [] if _same(before, after) else [path]


def _same(before: Any, after: Any) -> bool:
    """`5` and `"5"` are the same to CloudFormation."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(map(_same, before, after))
    if isinstance(before, Mapping) and isinstance(after, Mapping) and set(before) == set(after):
        return all(_same(before[key], after[key]) for key in before)
    return bool(text(before) == text(after))


def _recreation(
    path: Path,
    resource_type: str,
    schema: Schema | None,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> Recreation:
    if schema is None:
        return Recreation.NEVER
    if _touches(path, schema.paths("createOnlyProperties"), before, after):
        return Recreation.ALWAYS
    if not _touches(path, schema.paths("conditionalCreateOnlyProperties"), before, after):
        return Recreation.NEVER
    if resource_type not in _REPLACES:
        return Recreation.CONDITIONALLY
    switch, replacing = _REPLACES[resource_type]
    on = text(after.get(switch, replacing)) == replacing
    return Recreation.ALWAYS if on else Recreation.NEVER


def _touches(
    path: Path, listed: Sequence[Path], before: Mapping[str, Any], after: Mapping[str, Any]
) -> bool:
    """Return whether a changed path is, contains or lies within a listed property that changed."""
    for candidate in listed:
        common = min(len(path), len(candidate))
        if path[:common] == candidate[:common]:
            old, new = (list(values_at(it, candidate)) for it in (before, after))
            if not _same(old, new):
                return True
    return False


def keeps_its_name(
    resource_type: str, region: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> bool:
    """Return whether a replacement would have the name that the old resource still has.

    CloudFormation makes the new one first, so it refuses to replace a custom-named resource.
    """
    schema = schema_of(resource_type, region)
    if schema is None:
        return False
    read_only = schema.paths("readOnlyProperties")
    identity = schema.paths("primaryIdentifier")
    if any(path in read_only for path in identity):
        return False
    old, new = ([list(values_at(it, path)) for path in identity] for it in (before, after))
    return all(old) and _same(old, new)
