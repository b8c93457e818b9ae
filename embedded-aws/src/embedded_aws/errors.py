"""The errors that the embedded AWS raises, except those that AWS itself would answer."""

from contextvars import ContextVar

# How the user calls the commands, for messages that name one: `embedded-aws`, or the command of a
# package that has them among its own.
program: ContextVar[str] = ContextVar("program", default="embedded-aws")


class EmbeddedAwsError(Exception):
    """Bad input or a failure; the message says what to do.

    The command line prints the message without a traceback and exits with `exit_code`.
    """

    exit_code = 2
