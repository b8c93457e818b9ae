"""The form of AWS Batch's refusals, and the names that it accepts.

Batch API reference: up to 128 letters, numbers, hyphens and underscores, beginning with a letter or
a number.
"""

import re
from collections.abc import Iterable

from embedded_aws.actions import Refusal
from embedded_aws.constraints import checks_arguments

checks_arguments("batch", "ClientException")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


def refuse(message: str) -> Refusal:
    """Return a refusal in Batch's form."""
    return Refusal("ClientException", f"Error executing request, Exception : {message}")


def check_name(parameter: str, name: str) -> None:
    """Refuse a name that Batch does not accept.

    Args:
        parameter: the API's name of it, for instance `jobName`.
        name: as given.

    Raises:
        Refusal: ClientException.
    """
    if not _NAME.fullmatch(name):
        raise refuse(f"{parameter} {name} should match valid pattern {_NAME.pattern}")


def check_one_of(parameter: str, value: str, allowed: Iterable[str]) -> None:
    """Refuse a value that Batch does not allow.

    Raises:
        Refusal: ClientException.
    """
    if value not in allowed:
        raise refuse(f"{parameter} {value} must be one of {', '.join(allowed)}.")


def check_between(parameter: str, value: int, least: int, most: int) -> None:
    """Refuse a number out of range.

    Raises:
        Refusal: ClientException.
    """
    if not least <= value <= most:
        raise refuse(f"{parameter} {value} must be between {least} and {most}.")
