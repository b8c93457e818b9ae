"""Read what a file gives, for rules: what it does not decide, and the defaults that it rests on."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from trainshed.lint.model import Given, Known, Unknown

T = TypeVar("T")
_DEFAULTS: ContextVar[dict[str, None]] = ContextVar("parameters whose defaults were read")


class NotDecided(Exception):
    """The file does not decide a value that a rule needs.

    Attributes:
        unknown: the value.
    """

    def __init__(self, unknown: Unknown) -> None:
        self.unknown = unknown
        super().__init__(unknown.why)


@contextmanager
def reading() -> Iterator[dict[str, None]]:
    """Record the parameters whose defaults `read` and `value_of` return, as the keys of a dict."""
    token = _DEFAULTS.set({})
    try:
        yield _DEFAULTS.get()
    finally:
        _DEFAULTS.reset(token)


def read(given: Given[T]) -> Known[T] | None:
    """Return a value that a rule needs, or None where the file does not give it.

    Raises:
        NotDecided: the file gives it, but does not decide it. The rule then says so of this part
            of the file, and goes on with the next.
    """
    if isinstance(given, Unknown):
        raise NotDecided(given)
    if given:
        _DEFAULTS.get().update(dict.fromkeys(given.defaults))
    return given


def value_of(given: Given[T]) -> T | None:
    """Return what a file gives and decides, or None."""
    known = None if isinstance(given, Unknown) else read(given)
    return known.value if known else None
