"""The errors that the embedded AWS raises, except those that AWS itself would answer."""

from collections.abc import Iterable
from contextvars import ContextVar
from difflib import get_close_matches

# How the user calls the commands, for messages that name one: `embedded-aws`, or the command of a
# package that has them among its own.
program: ContextVar[str] = ContextVar("program", default="embedded-aws")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known one, or nothing."""
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


class EmbeddedAwsError(Exception):
    """Bad input or a failure; the message says what to do.

    The command line prints the message without a traceback and exits with `exit_code`.
    """

    exit_code = 2


class ServerError(EmbeddedAwsError):
    """The server does not start, does not answer, or does not take the credentials."""

    exit_code = 1
