"""A stack's parameters: defaults, types, constraints, Parameter Store."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import regex

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.scope import text

_STORED = "AWS::SSM::Parameter::Value<"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackParameter:
    """One parameter with its value.

    Attributes:
        given: what the caller or the default said, as text.
        value: what `Ref` returns: text, or a list for list types.
        stored: what Parameter Store returned, for the `AWS::SSM::Parameter::Value` types.
        no_echo: its value is masked whenever it is described.
    """

    given: str
    value: str | list[str]
    stored: str | None = None
    no_echo: bool = False


def resolve_parameters(
    declared: Mapping[str, Any],
    given: Mapping[str, str],
    fetch: Callable[[str], str | None],
) -> dict[str, StackParameter]:
    """Give every declared parameter its value.

    Args:
        declared: the template's Parameters section.
        given: values by name, previous ones already filled in.
        fetch: reads a parameter of Parameter Store; None when it does not exist.

    Raises:
        ValidationError: one is missing, unknown or breaks its constraints.
    """
    if unknown := sorted(set(given) - set(declared)):
        raise ValidationError(f"Parameters: [{', '.join(unknown)}] do not exist in the template")
    if missing := [
        name for name in declared if name not in given and "Default" not in declared[name]
    ]:
        raise ValidationError(f"Parameters: [{', '.join(missing)}] must have values")
    return {
        name: _resolve(name, declaration, given.get(name), fetch)
        for name, declaration in declared.items()
    }


def _resolve(
    name: str,
    declaration: Mapping[str, Any],
    value: str | None,
    fetch: Callable[[str], str | None],
) -> StackParameter:
    given = str(text(declaration.get("Default") if value is None else value))
    kind = declaration.get("Type")
    if not isinstance(kind, str):
        raise ValidationError(
            "Template format error: Every Parameters object must contain a Type member."
        )
    value_given = _typed(kind, given)
    for item in value_given if isinstance(value_given, list) else [value_given]:
        _check_item(name, declaration, kind, item)
    no_echo = text(declaration.get("NoEcho", False)) == "true"
    if kind.startswith(_STORED):
        stored = fetch(given)
        if stored is None:
            raise ValidationError(
                f"Unable to fetch parameters [{given}] from parameter store for this account."
            )
        inner = kind.removeprefix(_STORED).removesuffix(">")
        return StackParameter(
            given=given, value=_typed(inner, stored), stored=stored, no_echo=no_echo
        )
    return StackParameter(given=given, value=value_given, no_echo=no_echo)


def _typed(kind: str, value: str) -> str | list[str]:
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        return [item.strip() for item in value.split(",")] if value else []
    return value


def _check_item(name: str, declaration: Mapping[str, Any], kind: str, item: str) -> None:
    def refuse(message: str) -> ValidationError:
        hint = declaration.get("ConstraintDescription")
        if hint:
            message = f"Parameter {name} failed to satisfy constraint: {hint}"
        return ValidationError(message)

    allowed = [str(text(choice)) for choice in declaration.get("AllowedValues", [])]
    if allowed and item not in allowed:
        raise refuse(f"Parameter '{name}' must be one of AllowedValues")
    if kind in ("Number", "List<Number>"):
        try:
            number = float(item)
        except ValueError as error:
            raise refuse(f"Parameter '{name}' must be a number.") from error
        if number < float(declaration.get("MinValue", "-inf")):
            raise refuse(
                f"Parameter '{name}' must be a number not less than {declaration['MinValue']}"
            )
        if number > float(declaration.get("MaxValue", "inf")):
            raise refuse(
                f"Parameter '{name}' must be a number not greater than {declaration['MaxValue']}"
            )
    pattern = declaration.get("AllowedPattern")
    if pattern and not regex.fullmatch(pattern, item):
        raise refuse(f"Parameter '{name}' must match pattern {pattern}")
    if len(item) < int(declaration.get("MinLength", 0)):
        raise refuse(
            f"Parameter '{name}' must contain at least {declaration['MinLength']} characters"
        )
    if "MaxLength" in declaration and len(item) > int(declaration["MaxLength"]):
        raise refuse(
            f"Parameter '{name}' must contain at most {declaration['MaxLength']} characters"
        )
