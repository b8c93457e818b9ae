"""The schema that AWS publishes of a resource type: its properties and how they may change."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import regex

# Path of a property, list indices as `*`.
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The published schema of one resource type.

    Attributes:
        document: JSON schema of the properties, with AWS's own keywords.
        attributes: patterns of the attributes of `Fn::GetAtt`, dots escaped.
    """

    document: Mapping[str, Any]
    attributes: tuple[str, ...]

    def paths(self, keyword: str) -> tuple[Path, ...]:
        """Return the property paths that a keyword lists, for instance `createOnlyProperties`."""
        return tuple(
            tuple(pointer.removeprefix("/properties/").split("/"))
            for pointer in self.document.get(keyword) or ()
        )

    @property
    def identifier(self) -> str | None:
        """The attribute that is the physical id; None where several together are."""
        paths = self.paths("primaryIdentifier")
        return paths[0][0] if len(paths) == 1 else None

    def has_attribute(self, name: str) -> bool:
        """Return whether `Fn::GetAtt` of this type supports an attribute."""
        return any(regex.fullmatch(pattern, name) for pattern in self.attributes)

    @property
    def taggable(self) -> bool:
        """Whether CloudFormation puts the stack's tags on the resource."""
        tagging = self.document.get("tagging") or {}
        return bool(tagging.get("taggable", "Tags" in self.document.get("properties", {})))

    @property
    def tags_are_a_list(self) -> bool:
        """Whether Tags is a list of keys and values; some types have a map."""
        tags = self.document.get("properties", {}).get("Tags", {})
        return bool(tags.get("type") == "array")


def resolved(part: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part of a schema, or the part of its document to which it refers."""
    while "$ref" in part:
        target: Any = document
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        part = target
    return part


def is_custom(resource_type: str) -> bool:
    """Return whether the type is a custom resource, made by the user's function."""
    return resource_type.startswith("Custom::") or (
        resource_type == "AWS::CloudFormation::CustomResource"
    )


def import_from_cfnlint(name: str) -> ModuleType:
    """Import a module of cfn-lint without the package's own `__init__`.

    That one loads the linter with all its rules, which takes half a second; a server starts often,
    and reads the schemas only.
    """
    package = ModuleType("cfnlint")
    spec = find_spec(package.__name__)
    assert spec and spec.submodule_search_locations
    package.__path__ = list(spec.submodule_search_locations)
    there = sys.modules.get(package.__name__)
    sys.modules[package.__name__] = there or package
    try:
        return import_module(f"{package.__name__}.{name}")
    finally:
        # Whoever imports cfn-lint itself later gets all of it.
        if there is None:
            del sys.modules[package.__name__]


_manager = import_from_cfnlint("schema.manager")


@cache
def schema_of(resource_type: str, region: str) -> Schema | None:
    """Return a type's schema, or None when AWS publishes none for it in the region.

    The properties of a custom resource are its function's, so it has no schema either.

    Args:
        resource_type: for instance `AWS::EC2::LaunchTemplate`.
        region: for instance `us-west-2`; regions differ in a few types.
    """
    if is_custom(resource_type):
        return None
    try:
        found = _manager.PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, resource_type)
    except _manager.ResourceNotFoundError:
        return None
    names = set(found.get_atts)
    names |= {
        ".".join(pointer.split("/")[2:]) for pointer in found.schema.get("readOnlyProperties") or ()
    }
    attributes = tuple(name if ".*" in name else regex.escape(name) for name in sorted(names))
    return Schema(document=found.schema, attributes=attributes)


def values_at(properties: Any, path: Path) -> Iterator[Any]:
    """Yield the values at a property path, one for each list item for `*`.

    Args:
        properties: where to look.
        path: for instance `("Tags", "*", "Key")`.
    """
    if not path:
        yield properties
    elif path[0] == "*" and isinstance(properties, list):
        for item in properties:
            yield from values_at(item, path[1:])
    elif isinstance(properties, Mapping) and path[0] in properties:
        yield from values_at(properties[path[0]], path[1:])
