"""Enums that are missing in AWS's resource schemas and present in its API models."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import botocore.session
import regex

# A type's properties have the names of its create operation's parameters, so both can be walked
# side by side. Only types whose schema was found to lack enums are listed.
_OPERATIONS: Final[Mapping[str, tuple[str, str]]] = {
    "AWS::Batch::ComputeEnvironment": ("batch", "CreateComputeEnvironment"),
    "AWS::EC2::Instance": ("ec2", "RunInstances"),
    "AWS::EC2::LaunchTemplate": ("ec2", "CreateLaunchTemplate"),
    "AWS::FSx::FileSystem": ("fsx", "CreateFileSystem"),
}
# Parameters whose model is a plain string; their values are in the model's documentation.
_DOCUMENTED: Final = frozenset({"InterfaceType"})
# Instance types are checked against what the region offers, which a model cannot know.
_NOT_ENUMS: Final = frozenset({"InstanceType"})
_VALID_VALUES = regex.compile(r"Valid values: (?:<code>([\w-]+)</code>[ |]*)+")

# Path of a property, list indices as `*`.
Path = tuple[str, ...]


@cache
def borrowed_enums(resource_type: str) -> Mapping[Path, tuple[str, ...]]:
    """Return the enums of a resource type that only the API model knows, by property path.

    Args:
        resource_type: for instance `AWS::FSx::FileSystem`.
    """
    if resource_type not in _OPERATIONS:
        return {}
    service, operation = _OPERATIONS[resource_type]
    model = botocore.session.get_session().get_service_model(service)
    return dict(_enums(model.operation_model(operation).input_shape, (), frozenset()))


def _enums(shape: Any, path: Path, above: frozenset[str]) -> Iterator[tuple[Path, tuple[str, ...]]]:
    if shape.type_name == "structure" and shape.name not in above:
        for name, member in shape.members.items():
            # Batch's API starts its names in lower case, CloudFormation never does.
            yield from _enums(member, (*path, name[:1].upper() + name[1:]), above | {shape.name})
    elif shape.type_name == "list":
        yield from _enums(shape.member, (*path, "*"), above)
    elif shape.type_name == "string" and path and path[-1] not in _NOT_ENUMS:
        if shape.enum:
            yield path, tuple(shape.enum)
        elif path[-1] in _DOCUMENTED and (found := _VALID_VALUES.search(shape.documentation)):
            yield path, tuple(found.captures(1))
