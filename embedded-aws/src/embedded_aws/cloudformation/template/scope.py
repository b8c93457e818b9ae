"""The values that intrinsic functions use, and those that are not known yet."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final


class _NoValue:
    """`AWS::NoValue`: the property is left out."""


NO_VALUE: Final = _NoValue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A value that is known only after a resource has been created or changed.

    Attributes:
        logical_id: the resource on which it depends.
        attribute: the attribute of `Fn::GetAtt`, None for `Ref`.
    """

    logical_id: str
    attribute: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The values that functions use.

    Attributes:
        names: values of parameters and pseudo parameters, by name.
        mappings: the template's Mappings.
        conditions: the template's Conditions, not evaluated.
        zones: returns the availability zones of a region.
        resource: returns `Ref` (attribute None) or `Fn::GetAtt` of a resource; may be `Unknown`.
        imported: returns the value of an export of this region.
        stack_output: returns an output, given the arguments of `Fn::GetStackOutput`.
        decided: conditions decided so far.
        deciding: conditions that are being decided, to detect a circle.
    """

    names: Mapping[str, Any]
    mappings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    zones: Callable[[str], list[str]]
    resource: Callable[[str, str | None], Any]
    imported: Callable[[str], Any]
    stack_output: Callable[[Mapping[str, str]], str]
    decided: dict[str, bool] = field(default_factory=dict)
    deciding: list[str] = field(default_factory=list)


def text(value: Any) -> Any:
    """Return a scalar as CloudFormation writes it into a string; other values as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return value


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a value of JSON with every scalar in it changed."""
    if isinstance(value, Mapping):
        return {key: mapped(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    return change(value)


def unknown_in(value: Any) -> Iterator[Unknown]:
    """Yield the unknown parts of a value."""
    if isinstance(value, Unknown):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from unknown_in(item)
