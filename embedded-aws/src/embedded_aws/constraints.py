"""What the models of AWS's services say of arguments' values: enums, ranges, patterns.

Documented: the words, which all services with JSON protocols share. Inferred: that those which are
checked here check their whole request before anything else, and that EC2 has the same words.
"""

from collections.abc import Iterator, Mapping, Sized
from typing import Any

import regex

# The services whose requests are checked, with their error codes.
_codes: dict[str, str] = {}
# A region has other instance types than a model. Documented: Batch takes retry actions in any case.
# The pattern of a placement group's ARN matches nothing.
_OTHERWISE_CHECKED = ("InstanceType", "PlacementGroupArn", "RetryAction")
# Java's way to write the characters above U+FFFF.
_SURROGATES, _ABOVE = r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010FFFF"


def checks_arguments(service: str, code: str) -> None:
    """Refuse requests of a service whose arguments its model does not allow.

    Args:
        service: botocore's name of the service.
        code: error code of the refusals.
    """
    _codes[service] = code


def code_of_violations(service: str) -> str | None:
    """Return the error code for arguments that a model does not allow; None for what is taken."""
    return _codes.get(service)


def violations(shape: Any, value: Any, path: str) -> Iterator[str]:
    """Yield what a model does not allow, in AWS's words.

    Args:
        shape: botocore's, of the value.
        value: an operation's input, or a part of it.
        path: of the value in the input.
    """
    if isinstance(value, Mapping):
        for name, part in value.items():
            inner = shape.members[name] if shape.type_name == "structure" else shape.value
            yield from violations(inner, part, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for part in value:
            yield from violations(shape.member, part, f"{path}.member")
    if rule := _broken(shape, value):
        yield (
            f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy "
            f"constraint: Member must {rule}"
        )


def _broken(shape: Any, value: Any) -> str | None:
    """Return the rule of a shape that a value breaks, or None."""
    rules = {} if shape.name in _OTHERWISE_CHECKED else shape.metadata
    what, size = ("length", len(value)) if isinstance(value, Sized) else ("value", value)
    if "enum" in rules and value not in rules["enum"]:
        return f"satisfy enum value set: [{', '.join(rules['enum'])}]"
    if "pattern" in rules and not regex.fullmatch(
        rules["pattern"].replace(_SURROGATES, _ABOVE), value
    ):
        return f"satisfy regular expression pattern: {rules['pattern']}"
    if "min" in rules and size < rules["min"]:
        return f"have {what} greater than or equal to {rules['min']}"
    if "max" in rules and size > rules["max"]:
        return f"have {what} less than or equal to {rules['max']}"
    return None
