"""Exceptions in a server's log, which nobody caught."""

import re

# The frames, which are indented, and the exception. Requests that other threads log meanwhile stand
# between the lines, or in one, and then it may begin with the marks below the code.
_TRACEBACK = re.compile(r"^Traceback \(.*\n((?:(?:\s|\^|127\.0\.0\.1 - - ).*\n|\n)+)(\S.*)", re.M)
_INNERMOST_LINES = 6
_MOST_EXCEPTIONS = 5
_BEFORE, _AFTER = 500, 5000


def no_traceback(log: str) -> None:
    """Assert that a server's log has no traceback.

    The message begins with what matters, because reports of CI cut long ones: each exception with
    the innermost frames; then what the log has around the first traceback.
    """
    ends = [
        "\n".join([exception, *frames.splitlines()[-_INNERMOST_LINES:]])
        for frames, exception in _TRACEBACK.findall(log)[:_MOST_EXCEPTIONS]
    ]
    before, found, after = log.partition("Traceback")
    assert not found, "\n".join([*ends, "...", before[-_BEFORE:] + found + after[:_AFTER]])
