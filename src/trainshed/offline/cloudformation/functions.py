"""The intrinsic functions: what a template's values come to."""

import base64
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainshed.offline.cloudformation.errors import ValidationError


class _NoValue:
    """What `AWS::NoValue` stands for: the property is not there."""


NO_VALUE: Final = _NoValue()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A value that exists only after a resource was created or replaced.

    Attributes:
        logical_id: the resource that it waits for.
        attribute: the attribute of `Fn::GetAtt`, None for `Ref`.
    """

    logical_id: str
    attribute: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Everything that a function can ask for.

    Attributes:
        names: values of parameters and pseudo parameters, by name.
        mappings: the template's Mappings.
        conditions: the template's Conditions, not evaluated.
        zones: availability zones of a region.
        resource: value of `Ref` (attribute None) or `Fn::GetAtt` of a resource; may be `Unknown`.
        imported: value of an export of this region.
    """

    names: Mapping[str, Any]
    mappings: Mapping[str, Any]
    conditions: Mapping[str, Any]
    zones: Callable[[str], list[str]]
    resource: Callable[[str, str | None], Any]
    imported: Callable[[str], Any]
    _decided: dict[str, bool] = field(default_factory=dict)
    _deciding: list[str] = field(default_factory=list)

    def condition(self, name: str) -> bool:
        """Decide a named condition.

        Raises:
            ValidationError: no such condition, or it depends on itself.
        """
        if name not in self._decided:
            if name not in self.conditions:
                raise ValidationError(
                    f"Template error: unresolved condition dependency {name} in the template"
                )
            if name in self._deciding:
                raise ValidationError(
                    f"Template error: circular dependency between conditions: {self._deciding}"
                )
            self._deciding.append(name)
            self._decided[name] = evaluate_condition(self.conditions[name], self)
            self._deciding.remove(name)
        return self._decided[name]


def function_in(value: Any) -> tuple[str, Any] | None:
    """Return name and argument when this value is a function call, else None."""
    if isinstance(value, dict) and len(value) == 1:
        ((name, argument),) = value.items()
        if name == "Ref" or (isinstance(name, str) and name.startswith("Fn::")):
            return name, argument
    return None


def evaluate(value: Any, scope: Scope) -> Any:
    """Resolve every function within a value.

    Returns:
        The value; `NO_VALUE` when it is to be left out; `Unknown` within it, or instead of it,
        where it waits for a resource.

    Raises:
        ValidationError: a function is used wrongly or refers to something that is not there.
    """
    if call := function_in(value):
        return _call(*call, scope)
    if isinstance(value, dict):
        pairs = ((key, evaluate(item, scope)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not NO_VALUE}
    if isinstance(value, list):
        return [item for item in (evaluate(i, scope) for i in value) if item is not NO_VALUE]
    return value


def evaluate_condition(value: Any, scope: Scope) -> bool:
    """Decide a condition expression.

    Raises:
        ValidationError: it is not a condition function.
    """
    if isinstance(value, dict) and len(value) == 1:
        ((name, argument),) = value.items()
        if name == "Condition":
            return scope.condition(argument)
        if name == "Fn::Equals" and isinstance(argument, list) and len(argument) == 2:
            left, right = (evaluate(item, scope) for item in argument)
            return bool(text(left) == text(right))
        if name == "Fn::Not" and isinstance(argument, list) and len(argument) == 1:
            return not evaluate_condition(argument[0], scope)
        if name in ("Fn::And", "Fn::Or") and isinstance(argument, list):
            if not 2 <= len(argument) <= 10:
                raise ValidationError(
                    f"Template error: every {name} object requires a list of at least 2 and "
                    "at most 10 boolean parameters."
                )
            decided = [evaluate_condition(item, scope) for item in argument]
            return all(decided) if name == "Fn::And" else any(decided)
        if name == "Fn::Contains":
            choices, wanted = (evaluate(item, scope) for item in argument)
            return any(text(wanted) == text(choice) for choice in choices)
        if name == "Fn::EachMemberEquals":
            members, wanted = (evaluate(item, scope) for item in argument)
            return all(text(member) == text(wanted) for member in members)
        if name == "Fn::EachMemberIn":
            members, choices = (evaluate(item, scope) for item in argument)
            return {text(member) for member in members} <= {text(choice) for choice in choices}
    raise ValidationError(
        f"Template error: {value!r} is not a condition: use Fn::Equals, Fn::And, Fn::Or, "
        "Fn::Not or Condition"
    )


def text(value: Any) -> Any:
    """Return a scalar as CloudFormation writes it into a string; other values as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return value


def _call(name: str, argument: Any, scope: Scope) -> Any:
    if name == "Ref":
        return _reference(argument, scope)
    if name == "Fn::GetAtt":
        return _attribute(argument, scope)
    if name == "Fn::If":
        return _choose(argument, scope)
    if name == "Fn::Sub":
        return _substitute(argument, scope)
    if name not in _FUNCTIONS:
        raise ValidationError(f"Template error: unsupported function {name}")
    evaluated = evaluate(argument, scope)
    if waits := first_unknown(evaluated):
        return waits
    try:
        return _FUNCTIONS[name](evaluated, scope)
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise ValidationError(
            f"Template error: {name} cannot take {evaluated!r} ({error})"
        ) from error


def first_unknown(value: Any) -> Unknown | None:
    """Return the first part of a value that waits for a resource."""
    if isinstance(value, Unknown):
        return value
    items = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list):
        return None
    return next((found for item in items if (found := first_unknown(item))), None)


def _reference(name: Any, scope: Scope) -> Any:
    if name == "AWS::NoValue":
        return NO_VALUE
    if name in scope.names:
        return scope.names[name]
    return scope.resource(name, None)


def _attribute(argument: Any, scope: Scope) -> Any:
    logical_id, attribute = argument
    attribute = evaluate(attribute, scope)
    return scope.resource(logical_id, attribute)


def _choose(argument: Any, scope: Scope) -> Any:
    if not isinstance(argument, list) or len(argument) != 3:
        raise ValidationError("Template error: Fn::If requires a list argument with 3 elements")
    condition, then, otherwise = argument
    return evaluate(then if scope.condition(condition) else otherwise, scope)


_VARIABLE = re.compile(r"\$\{(!?)([^}]*)\}")


def variables(template: str) -> list[str]:
    """Return the names that a `Fn::Sub` string refers to, `${!Literal}` left out."""
    return [name.strip() for literal, name in _VARIABLE.findall(template) if not literal]


def _substitute(argument: Any, scope: Scope) -> Any:
    template, given = argument if isinstance(argument, list) else (argument, {})
    if not isinstance(template, str) or not isinstance(given, dict):
        raise ValidationError(
            "Template error: One or more Fn::Sub intrinsic functions don't specify expected "
            "arguments. Specify a string as first argument, and an optional second argument to "
            "specify a mapping of values to replace in the string"
        )
    values: dict[str, Any] = {}
    for name in variables(template):
        if name in given:
            value = evaluate(given[name], scope)
        elif "." in name:
            value = scope.resource(*name.split(".", 1))
        else:
            value = _reference(name, scope)
        if isinstance(value, Unknown):
            return value
        if isinstance(value, dict | list):
            raise ValidationError(
                f"Template error: variable {name} in Fn::Sub expression does not resolve to a "
                "string"
            )
        values[name] = text(value)
    return _VARIABLE.sub(
        lambda match: f"${{{match[2]}}}" if match[1] else values[match[2].strip()], template
    )


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


def _zones(argument: Any, scope: Scope) -> list[str]:
    return scope.zones(argument or scope.names["AWS::Region"])


def _base64(argument: Any, scope: Scope) -> str:
    return base64.b64encode(str(text(argument)).encode()).decode()


def _cidr(argument: Any, scope: Scope) -> list[str]:
    block, count, *bits = argument
    network = ipaddress.ip_network(block)
    host_bits = int(bits[0]) if bits else 8
    subnets = network.subnets(new_prefix=network.max_prefixlen - host_bits)
    found = [str(subnet) for _, subnet in zip(range(int(count)), subnets, strict=False)]
    if len(found) < int(count):
        raise ValueError(f"{block} has no {count} blocks of {host_bits} host bits")
    return found


def _imported(argument: Any, scope: Scope) -> Any:
    return scope.imported(argument)


_FUNCTIONS: Final[Mapping[str, Callable[[Any, Scope], Any]]] = {
    "Fn::Base64": _base64,
    "Fn::Cidr": _cidr,
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAZs": _zones,
    "Fn::ImportValue": _imported,
    "Fn::Join": _join,
    "Fn::Select": _select,
    "Fn::Split": _split,
}
