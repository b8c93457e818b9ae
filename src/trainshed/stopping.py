"""React when a command is asked to stop: by Ctrl-C, SIGTERM, or a terminal that is closed."""

import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def on_stop(react: Callable[[int], None]) -> Iterator[None]:
    """Call a function with the signal that asks the command to stop.

    Not for what the parent process has this ignore, and so asks that it does not end it.
    """

    def asked(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave_terminal()
            # The terminal tells it, and so does the shell: the second must not end the clean-up.
            signal.signal(number, signal.SIG_IGN)
        react(number)

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, asked)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is asked:
                signal.signal(number, handler)


def _leave_terminal() -> None:
    """Print into nothing: on a closed terminal it is an error, which would end the clean-up."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in (0, 1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(file).st_mode):
                os.dup2(nothing, file)
    os.close(nothing)
