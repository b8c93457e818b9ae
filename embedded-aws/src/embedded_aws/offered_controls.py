"""The controls that services offer."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from werkzeug import Request, Response

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.settings import ServerSettings

# An EmbeddedAwsError that it raises answers the request.
Control = Callable[[Request, ServerSettings], Response]
_offered: dict[str, Control] = {}


class ControlError(EmbeddedAwsError):
    """What was posted to a control is not possible."""


def control(method: str, path: str) -> Callable[[Control], Control]:
    """Register the decorated function to answer a control.

    Args:
        method: of HTTP.
        path: which begins with `/_embedded-aws/`.
    """

    def register(function: Control) -> Control:
        _offered[f"{method} {path}"] = function
        return function

    return register


def offered_controls() -> Mapping[str, Control]:
    """Return the registered functions by method and path."""
    return _offered


def posted(request: Request) -> Any:
    """Return the value that was posted.

    Raises:
        ControlError: it is not JSON.
    """
    try:
        return json.loads(request.get_data())
    except (ValueError, RecursionError) as error:
        raise ControlError(f"this is not JSON: {error}") from error
