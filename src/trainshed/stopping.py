"""Clean up when a command is stopped."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stoppable() -> Iterator[None]:
    """Make SIGTERM end this like Ctrl-C, so that clean-up runs.

    Not where the parent process has this ignore SIGTERM, and so asks that nothing ends it.
    """
    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
