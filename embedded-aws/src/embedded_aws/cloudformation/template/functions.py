"""The intrinsic functions: evaluate a template's values."""

import re
from typing import Any

from embedded_aws.cloudformation.errors import ValidationError
from embedded_aws.cloudformation.template.plain_functions import PLAIN_FUNCTIONS
from embedded_aws.cloudformation.template.scope import NO_VALUE, Scope, Unknown, text, unknown_in


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


def condition(name: str, scope: Scope) -> bool:
    """Decide a named condition.

    Raises:
        ValidationError: no such condition, or it depends on itself.
    """
    if name not in scope.decided:
        if name not in scope.conditions:
            raise ValidationError(
                f"Template error: unresolved condition dependency {name} in the template"
            )
        if name in scope.deciding:
            raise ValidationError(
                f"Template error: circular dependency between conditions: {scope.deciding}"
            )
        scope.deciding.append(name)
        scope.decided[name] = evaluate_condition(scope.conditions[name], scope)
        scope.deciding.remove(name)
    return scope.decided[name]


def evaluate_condition(value: Any, scope: Scope) -> bool:
    """Decide a condition expression.

    Raises:
        ValidationError: it is not a condition function.
    """
    if isinstance(value, dict) and len(value) == 1:
        ((name, argument),) = value.items()
        if name == "Condition":
            return condition(argument, scope)
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


def _call(name: str, argument: Any, scope: Scope) -> Any:
    if name == "Ref":
        return _reference(argument, scope)
    if name == "Fn::GetAtt":
        logical_id, attribute = argument
        return scope.resource(logical_id, evaluate(attribute, scope))
    if name == "Fn::If":
        return _choose(argument, scope)
    if name == "Fn::Sub":
        return _substitute(argument, scope)
    if name not in PLAIN_FUNCTIONS:
        raise ValidationError(f"Template error: unsupported function {name}")
    evaluated = evaluate(argument, scope)
    if waits := next(unknown_in(evaluated), None):
        return waits
    try:
        return PLAIN_FUNCTIONS[name](evaluated, scope)
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise ValidationError(
            f"Template error: {name} cannot take {evaluated!r} ({error})"
        ) from error


def _reference(name: Any, scope: Scope) -> Any:
    if name == "AWS::NoValue":
        return NO_VALUE
    if name in scope.names:
        return scope.names[name]
    return scope.resource(name, None)


def _choose(argument: Any, scope: Scope) -> Any:
    if not isinstance(argument, list) or len(argument) != 3:
        raise ValidationError("Template error: Fn::If requires a list argument with 3 elements")
    name, then, otherwise = argument
    return evaluate(then if condition(name, scope) else otherwise, scope)


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
