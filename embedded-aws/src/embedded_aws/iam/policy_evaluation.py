"""Whether policies allow an action on a resource.

IAM user guide, "Policy evaluation logic", "IAM JSON policy elements", "Variables and tags": a
variable, `${key}`, stands for the key's value, in resources and in the values of conditions; what
has one without a value matches nothing. A key that the request does not have, or that the embedded
AWS cannot know, is absent.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from embedded_aws.iam.service_principals import statements_of

_VARIABLE = re.compile(r"\$\{([^}]+)\}")

Policy = Mapping[str, Any]
# The values of a condition key; none when it is absent.
Context = Callable[[str], Sequence[str]]


def allows(policies: Sequence[Policy], action: str, resource: str, context: Context) -> bool:
    """Whether a statement of these policies allows the action."""
    return _has("Allow", policies, action, resource, context)


def denies(policies: Sequence[Policy], action: str, resource: str, context: Context) -> bool:
    """Whether a statement of these policies denies the action."""
    return _has("Deny", policies, action, resource, context)


def granted_actions(policies: Sequence[Policy]) -> list[str]:
    """Return the actions that policies allow on any resource, as they are written."""
    granted = [
        # Everything but what NotAction names is a wildcard, too.
        pattern
        for policy in policies
        for statement in statements_of(policy)
        if statement["Effect"] == "Allow"
        for pattern in _listed(statement.get("Action", "*"))
    ]
    return list(dict.fromkeys(granted))


def matches_action(pattern: str, action: str) -> bool:
    """Whether an action as a policy has it, with `*` and `?`, means this one."""
    return _matches(pattern.lower(), action.lower())


def _has(
    effect: str, policies: Sequence[Policy], action: str, resource: str, context: Context
) -> bool:
    return any(
        statement["Effect"] == effect
        and _applies(statement, "Action", action, matches_action)
        and _applies(statement, "Resource", resource, _matches, context)
        and all(
            _holds(operator, _filled(expected, context), context(key))
            for operator, keys in statement.get("Condition", {}).items()
            for key, expected in keys.items()
        )
        for policy in policies
        for statement in statements_of(policy)
    )


def _applies(
    statement: Policy,
    element: str,
    value: str,
    match: Callable[[str, str], bool],
    context: Context | None = None,
) -> bool:
    """Whether a statement's element means the value, or its Not-element does not.

    Args:
        statement: the statement.
        element: Action or Resource.
        value: of the request.
        match: whether a pattern means a value.
        context: the values of variables; None where an element has none.
    """
    written = statement.get(element, statement.get(f"Not{element}"))
    patterns = _filled(written, context) if context else _listed(written)
    return any(match(pattern, value) for pattern in patterns) == (element in statement)


def _holds(operator: str, expected: Sequence[str], actual: Sequence[str]) -> bool:
    """Whether a condition holds for a key's values.

    Raises:
        NotImplementedError: the embedded AWS does not evaluate this operator.
    """
    quantifier, _, name = operator.rpartition(":")
    optional = name.endswith("IfExists")
    name = name.removesuffix("IfExists")
    if name == "Null":
        return (not actual) == (expected[0].lower() == "true")
    negated = "Not" in name
    test = _TESTS.get(name.replace("Not", ""))
    if test is None:
        raise NotImplementedError(f"the condition operator {operator} of a policy")
    if not actual:
        return optional or quantifier == "ForAllValues" or (negated and not quantifier)
    hits = [any(test(pattern, value) for pattern in expected) != negated for value in actual]
    return any(hits) if quantifier == "ForAnyValue" else all(hits)


def _matches(pattern: str, value: str) -> bool:
    # In policies, a bracket is a letter like others.
    return fnmatchcase(value, re.sub(r"\[", "[[]", pattern))


def _matches_arn(pattern: str, value: str) -> bool:
    """Compare ARNs part by part: `*` ends at a colon."""
    parts = zip(pattern.split(":", 5), value.split(":", 5), strict=False)
    return pattern.count(":") >= 5 <= value.count(":") and all(_matches(*pair) for pair in parts)


_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "ArnEquals": _matches_arn,
    "ArnLike": _matches_arn,
    "Bool": lambda pattern, value: pattern.lower() == value,
    "StringEquals": lambda pattern, value: pattern == value,
    "StringEqualsIgnoreCase": lambda pattern, value: pattern.lower() == value.lower(),
    "StringLike": _matches,
}


def _filled(written: Any, context: Context) -> list[str]:
    """Return texts of a policy with their variables replaced, less those that cannot be."""
    return [
        _VARIABLE.sub(lambda found: context(found[1])[0], text)
        for text in _listed(written)
        if all(map(context, _VARIABLE.findall(text)))
    ]


def _listed(written: Any) -> list[str]:
    """Return what a policy has as a list, or as one alone, as texts."""
    values = written if isinstance(written, list) else [written]
    return [str(each).lower() if isinstance(each, bool) else str(each) for each in values]
