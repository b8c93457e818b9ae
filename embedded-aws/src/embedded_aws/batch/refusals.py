"""The form of AWS Batch's refusals, and the names that it accepts.

[S] Batch API reference: up to 128 letters, numbers, hyphens and underscores, beginning with a
letter or a number.
"""

import re

from embedded_aws.actions import Refusal

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
