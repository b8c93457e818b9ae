"""The cases of a template: what its conditions depend on, and all values that make a difference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from trainshed.documents.yaml import Value
from trainshed.lint.conditions import compare, comparison_key, evaluate, functions_in, names_in
from trainshed.lint.intrinsics import Scope
from trainshed.lint.model import Given, Known, Unknown
from trainshed.lint.parameters import reference_to_parameter

_MOST_CASES = 64
_MOST_ALLOWED_VALUES = 8
_ELSE = "something else"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value of something open.

    Attributes:
        text: for messages.
        assumed: what parameters are then.
        comparisons: whether comparisons of conditions hold then.
    """

    text: str
    assumed: Mapping[str, Given[Any]]
    comparisons: Mapping[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateCase:
    """A template in which all conditions are decided that can be.

    Attributes:
        names: what is assumed, for messages.
        scope: what references are resolved by.
    """

    names: tuple[tuple[str, str], ...]
    scope: Scope


def template_cases(
    sections: Mapping[str, Mapping[str, Value]], judged: Iterable[Value]
) -> tuple[tuple[TemplateCase, ...], bool]:
    """Return the cases that make a difference to some resources, the usual one first.

    Args:
        sections: as those of `Scope`.
        judged: the resources.

    Returns:
        The cases, and whether these are all: otherwise each differs from the first in one thing.
    """
    scope = Scope(sections=sections, assumed={}, conditions={})
    opened = _open(scope, set(_conditions_of(judged, sections["Conditions"])))
    if prod(len(choices) for choices in opened.values()) <= _MOST_CASES:
        picked = [*product(*opened.values())]
        complete = True
    else:
        usual = [choices[0] for choices in opened.values()]
        others = (
            (*usual[:number], choice, *usual[number + 1 :])
            for number, choices in enumerate(opened.values())
            for choice in choices[1:]
        )
        picked, complete = [tuple(usual), *others], False
    return tuple(_case(scope, [*opened], choices) for choices in picked), complete


def _case(scope: Scope, names: Sequence[str], choices: Sequence[Choice]) -> TemplateCase:
    assumed: dict[str, Given[Any]] = {}
    comparisons: dict[str, bool] = {}
    for choice in choices:
        assumed |= choice.assumed
        comparisons |= choice.comparisons
    here = Scope(sections=scope.sections, assumed=assumed, conditions={})
    conditions = evaluate(here, comparisons)
    return TemplateCase(
        names=tuple((name, choice.text) for name, choice in zip(names, choices, strict=True)),
        scope=Scope(sections=scope.sections, assumed=assumed, conditions=conditions),
    )


def _conditions_of(judged: Iterable[Value], conditions: Mapping[str, Value]) -> Iterator[str]:
    """Name the conditions that values depend on, also by way of other conditions."""
    waiting: list[str] = []
    for value in judged:
        waiting += names_in(value, "Condition")
        for argument, _ in functions_in(value, "Fn::If", ()):
            if isinstance(argument, list) and argument and isinstance(argument[0], str):
                waiting.append(argument[0])
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in conditions and name not in seen:
            seen.add(name)
            yield name
            waiting += names_in(conditions[name], "Condition")


def _open(scope: Scope, names: set[str]) -> dict[str, list[Choice]]:
    """Return what conditions leave open, each with its choices."""
    literals: dict[str, dict[str, str]] = {}
    opened: dict[str, list[Choice]] = {}
    for name in sorted(names):
        expression = scope.sections["Conditions"][name]
        for argument, path in functions_in(expression, "Fn::Equals", ("Conditions", name)):
            if found := _parameter_and_literal(scope, argument):
                literals.setdefault(found[0], {})[comparison_key(argument)] = found[1]
            elif choices := _choices_of_comparison(scope, argument, compare(scope, argument, path)):
                opened[f"a comparison of condition {name}"] = choices
    for name, compared in literals.items():
        definition = scope.sections["Parameters"].get(name)
        opened[name] = _choices_of_parameter(name, definition, compared)
    return opened


def _parameter_and_literal(scope: Scope, argument: Value) -> tuple[str, str] | None:
    match argument:
        case [{"Ref": str(name)}, literal] | [literal, {"Ref": str(name)}]:
            known = name in scope.sections["Parameters"] or name.startswith("AWS::")
            if known and isinstance(literal, str | int | float | bool):
                return name, _as_text(literal)
    return None


def _choices_of_comparison(
    scope: Scope, argument: Value, truth: bool | Unknown
) -> list[Choice] | None:
    """Return both outcomes of a comparison, unless it always has the same."""
    parameters = set(names_in(argument, "Ref")) & scope.sections["Parameters"].keys()
    if isinstance(truth, bool) and not parameters:
        return None
    usual = truth if isinstance(truth, bool) else True
    other = {
        name: Unknown(why=f"parameter {name}, when it is not its default", path=())
        for name in parameters
    }
    key = comparison_key(argument)
    return [
        Choice(text=_as_text(usual), assumed={}, comparisons={key: usual}),
        Choice(text=_as_text(not usual), assumed=other, comparisons={key: not usual}),
    ]


def _choices_of_parameter(
    name: str, definition: Value, compared: Mapping[str, str]
) -> list[Choice]:
    """Return the values of a parameter that make a difference, the usual one first.

    Args:
        name: of the parameter.
        definition: as the template has it.
        compared: the texts that conditions compare it with, by `comparison_key`.
    """
    texts = [*compared.values()]
    given = definition if isinstance(definition, dict) else {}
    allowed, default = given.get("AllowedValues"), given.get("Default")
    few = isinstance(allowed, list) and len(allowed) <= _MOST_ALLOWED_VALUES
    closed = [*map(_as_text, allowed)] if isinstance(allowed, list) and few else None
    values = dict.fromkeys(texts if closed is None else closed)
    choices = {
        text: Choice(text=f"'{text}'", assumed={name: Known(value=text, path=())}, comparisons={})
        for text in values
    }
    if default is not None and not isinstance(default, dict | list):
        usual = _as_text(default)
        found = reference_to_parameter(name, definition, ())
        first = Choice(text=f"'{usual}'", assumed={name: found}, comparisons={})
        rest = [choice for text, choice in choices.items() if text != usual]
        if usual in texts and closed is None:
            rest.append(_something_else(name, compared))
        return [first, *rest]
    return [*choices.values(), *([] if closed is not None else [_something_else(name, compared)])]


def _something_else(name: str, compared: Mapping[str, str]) -> Choice:
    kind = "" if name.startswith("AWS::") else "parameter "
    others = ", ".join(repr(text) for text in dict.fromkeys(compared.values()))
    why = f"{kind}{name}, when it is none of {others}"
    return Choice(
        text=_ELSE,
        assumed={name: Unknown(why=why, path=())},
        comparisons=dict.fromkeys(compared, False),
    )


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
