"""Intrinsic functions of values only: their arguments are resolved before they are called.

A wrong argument raises TypeError, ValueError, KeyError or IndexError.
"""

import base64
import ipaddress
from collections.abc import Callable, Mapping
from typing import Any, Final

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.scope import Scope, text


def _join(argument: Any, scope: Scope) -> str:
    delimiter, items = argument
    if not isinstance(items, list):
        raise TypeError("the second element must be a list")
    if not all(isinstance(item, str | int | float) for item in items):
        raise TypeError("every item must be a string")
    return str(delimiter).join(str(text(item)) for item in items)


def _select(argument: Any, scope: Scope) -> Any:
    index, items = argument
    if not isinstance(items, list):
        raise TypeError("the second element must be a list")
    if not 0 <= int(index) < len(items):
        raise ValidationError(
            f"Template error: Fn::Select cannot select nonexistent value at index {index}"
        )
    return items[int(index)]


def _split(argument: Any, scope: Scope) -> list[str]:
    delimiter, source = argument
    return str(text(source)).split(delimiter)


def _find_in_map(argument: Any, scope: Scope) -> Any:
    name, top, second, *default = argument
    try:
        return scope.mappings[name][text(top)][text(second)]
    except KeyError as error:
        if default:
            return default[0]["DefaultValue"]
        raise ValidationError(
            f"Template error: Unable to get mapping for {name}::{top}::{second}"
        ) from error


def _cidr(argument: Any, scope: Scope) -> list[str]:
    block, count, *bits = argument
    network = ipaddress.ip_network(block)
    host_bits = int(bits[0]) if bits else 8
    subnets = network.subnets(new_prefix=network.max_prefixlen - host_bits)
    found = [str(subnet) for _, subnet in zip(range(int(count)), subnets, strict=False)]
    if len(found) < int(count):
        raise ValueError(f"{block} has no {count} blocks of {host_bits} host bits")
    return found


PLAIN_FUNCTIONS: Final[Mapping[str, Callable[[Any, Scope], Any]]] = {
    "Fn::Base64": lambda value, _: base64.b64encode(str(text(value)).encode()).decode(),
    "Fn::Cidr": _cidr,
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAZs": lambda region, scope: scope.zones(region or scope.names["AWS::Region"]),
    "Fn::GetStackOutput": lambda asked, scope: scope.stack_output(asked),
    "Fn::ImportValue": lambda name, scope: scope.imported(name),
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
}
