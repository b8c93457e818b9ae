"""Evaluate a template's conditions as far as the template, and what is assumed, decide them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainshed.documents.problems import Path
from trainshed.documents.yaml import Value
from trainshed.lint.intrinsics import Scope
from trainshed.lint.model import Known, Unknown
from trainshed.lint.symbol import Symbol

Truth = bool | Unknown


def evaluate(scope: Scope, comparisons: Mapping[str, bool]) -> dict[str, Truth]:
    """Return whether each condition holds.

    Args:
        scope: with the parameters; its own conditions are not used.
        comparisons: whether those hold that the template does not decide, by `comparison_key`.
    """
    return {
        name: _truth(scope, comparisons, {"Condition": name}, ("Conditions", name), ())
        for name in scope.sections["Conditions"]
    }


def comparison_key(argument: Value) -> str:
    """Return what names an `Fn::Equals`: its argument."""
    return json.dumps(argument, sort_keys=True, default=str)


def compare(scope: Scope, argument: Value, path: Path) -> Truth:
    """Return whether two values are equal."""
    if not isinstance(argument, list) or len(argument) != 2:
        return Unknown(
            why="Fn::Equals does not have the form that CloudFormation documents", path=path
        )
    left, right = (scope.text(each, (*path, index)) for index, each in enumerate(argument))
    for side in (left, right):
        if isinstance(side, Unknown):
            return Unknown(why=side.why, path=path)
    if not isinstance(left, Known) or not isinstance(right, Known):
        return left is right
    if left.value == right.value:
        return True
    if symbol := next((s.value for s in (left, right) if isinstance(s.value, Symbol)), None):
        return Unknown(why=f"{symbol}, which is known only when it is deployed", path=path)
    return False


def names_in(value: Value, function: str) -> Iterator[str]:
    """Yield the names that `Ref` or `Condition` has anywhere inside a value."""
    for argument, _ in functions_in(value, function, ()):
        if isinstance(argument, str):
            yield argument


def parameters_of(condition: str, conditions: Mapping[str, Value]) -> set[str]:
    """Return the names that a condition refers to, also by way of other conditions."""
    waiting, seen, found = [condition], {condition}, set[str]()
    while waiting:
        expression = conditions.get(waiting.pop())
        found.update(names_in(expression, "Ref"))
        new = set(names_in(expression, "Condition")) - seen
        seen |= new
        waiting += new
    return found


def functions_in(value: Value, function: str, path: Path) -> Iterator[tuple[Value, Path]]:
    """Yield the arguments of a function anywhere inside a value, with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == function:
                yield inner, (*path, key)
            yield from functions_in(inner, function, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from functions_in(inner, function, (*path, index))


def _truth(
    scope: Scope,
    comparisons: Mapping[str, bool],
    value: Value,
    path: Path,
    inside: tuple[str, ...],
) -> Truth:
    def inner(each: Any, *keys: str | int) -> Truth:
        return _truth(scope, comparisons, each, (*path, *keys), inside)

    match value:
        case {"Condition": str(name)}:
            if name in inside or name not in scope.sections["Conditions"]:
                return Unknown(
                    why=f"condition {name}, which the template does not decide", path=path
                )
            expression = scope.sections["Conditions"][name]
            where = ("Conditions", name)
            return _truth(scope, comparisons, expression, where, (*inside, name))
        case {"Fn::Not": [one]}:
            truth = inner(one, "Fn::Not", 0)
            return truth if isinstance(truth, Unknown) else not truth
        case {"Fn::And": list(each)}:
            return _all_of([inner(one, "Fn::And", n) for n, one in enumerate(each)])
        case {"Fn::Or": list(each)}:
            return _any_of([inner(one, "Fn::Or", n) for n, one in enumerate(each)])
        case {"Fn::Equals": argument}:
            assumed = comparisons.get(comparison_key(argument))
            if assumed is not None:
                return assumed
            return compare(scope, argument, (*path, "Fn::Equals"))
    return Unknown(why="a condition that is not resolved here", path=path)


def _all_of(truths: list[Truth]) -> Truth:
    if False in truths:
        return False
    return next((each for each in truths if isinstance(each, Unknown)), True)


def _any_of(truths: list[Truth]) -> Truth:
    if True in truths:
        return True
    return next((each for each in truths if isinstance(each, Unknown)), False)
