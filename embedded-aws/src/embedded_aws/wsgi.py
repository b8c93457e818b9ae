"""WSGI applications, which answer requests."""

from collections.abc import Callable, Iterable
from typing import Any

# WSGI has no types.
Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Application = Callable[[Environ, StartResponse], Iterable[bytes]]
