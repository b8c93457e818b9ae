"""What a long command is doing: one changing line on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

from trainshed.cli.output import rich_line, say


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function to call with each step, and with an empty text to show that time passes.

    It writes to stderr: stdout is for results.
    """
    start, shown = monotonic(), ""

    def plain(step: str) -> None:
        nonlocal shown
        if step and step != shown:
            say(f"{_elapsed(start)} {step}", err=True)
            shown = step

    if not sys.stderr.isatty():
        yield plain
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("") as status:

        def live(step: str) -> None:
            nonlocal shown
            if step and step != shown:
                if shown:
                    console.print(rich_line(f"{_elapsed(start)} {shown}"))
                shown = step
            status.update(rich_line(f"{_elapsed(start)} {shown}"))

        yield live
    if shown:
        console.print(rich_line(f"{_elapsed(start)} {shown}"))


def _elapsed(start: float) -> str:
    return str(timedelta(seconds=int(monotonic() - start)))
