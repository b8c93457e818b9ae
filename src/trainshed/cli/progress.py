"""What a long command is doing: one changing line on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

import typer


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function to call with each step, and with an empty text to show that time passes.

    It writes to stderr: stdout is for results.
    """
    start, shown = monotonic(), ""

    def plain(step: str) -> None:
        nonlocal shown
        if step and step != shown:
            typer.echo(f"{_elapsed(start)} {step}", err=True)
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
                    console.print(f"{_elapsed(start)} {shown}", markup=False, highlight=False)
                shown = step
            # rich would read the brackets of a message as its own markup.
            status.update(f"{_elapsed(start)} {shown}".replace("[", r"\["))

        yield live
    if shown:
        console.print(f"{_elapsed(start)} {shown}", markup=False, highlight=False)


def _elapsed(start: float) -> str:
    return str(timedelta(seconds=int(monotonic() - start)))
