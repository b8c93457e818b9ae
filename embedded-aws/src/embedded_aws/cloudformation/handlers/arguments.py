"""API arguments from template properties, by the service's own model.

A template writes every key in PascalCase, numbers and booleans often as text, and documents as
objects. The API's model says what each argument is called and which type it has, so that one
conversion serves every service.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from botocore.model import Shape

from embedded_aws.cloudformation.resource import HandlerError, Properties


def arguments(
    client: Any, operation: str, properties: Properties, *, leave: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Convert properties into the arguments of one API operation.

    Args:
        client: boto3 client of the service.
        operation: the API's name of it, for instance `CreateVpc`.
        properties: resolved template properties; keys match arguments whatever their case.
        leave: top-level properties that are not for this operation.

    Raises:
        HandlerError: a property, at any depth, has no argument of that name.
    """
    shape = client.meta.service_model.operation_model(operation).input_shape
    taken = {name: value for name, value in properties.items() if name not in leave}
    return _structure(shape, taken, operation)


def accepted(client: Any, operation: str, names: Iterable[str]) -> list[str]:
    """Return those of the properties that an operation has arguments for.

    Args:
        client: boto3 client of the service.
        operation: the API's name of it, for instance `UpdateRole`.
        names: top-level properties.
    """
    shape = client.meta.service_model.operation_model(operation).input_shape
    known = {name.lower() for name in shape.members}
    return [name for name in names if name.lower() in known]


def _structure(shape: Any, value: Mapping[str, Any], path: str) -> dict[str, Any]:
    members = {name.lower(): name for name in shape.members}
    converted = {}
    for name, part in value.items():
        if name.lower() not in members:
            raise HandlerError(f"{path} takes no {name}: the embedded AWS cannot set this property")
        member = members[name.lower()]
        converted[member] = _convert(shape.members[member], part, f"{path}.{name}")
    return converted


def _convert(shape: Shape | Any, value: Any, path: str) -> Any:
    match shape.type_name, value:
        case "structure", Mapping():
            return _structure(shape, value, path)
        case "map", Mapping():
            return {key: _convert(shape.value, part, path) for key, part in value.items()}
        case "list", list():
            return [_convert(shape.member, part, path) for part in value]
        case "string", bool():
            return str(value).lower()
        case "string", Mapping() | list():
            return json.dumps(value)
        case "string", int() | float():
            return str(value)
        case "integer" | "long", str():
            return int(value)
        case "float" | "double", str():
            return float(value)
        case "boolean", str():
            return value.lower() == "true"
    return value
