"""Everything the embedded AWS raises on purpose, apart from what AWS itself would answer."""

from contextvars import ContextVar

# How the user calls the commands, for messages that name one: `embedded-aws`, or the command of a
# package that has them among its own.
program: ContextVar[str] = ContextVar("program", default="embedded-aws")


class EmbeddedAwsError(Exception):
    """A bad input or a contradiction, in words for the person who must act.

    The command line prints the message without a traceback and exits with `exit_code`.
    """

    exit_code = 2
