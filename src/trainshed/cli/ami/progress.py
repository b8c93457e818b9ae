"""What a long command is doing: one living line on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic

import typer


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that is told each step, and an empty text to show that time goes by.

    It writes to stderr: stdout is for results.
    """
    start, told = monotonic(), ""

    def plain(step: str) -> None:
        nonlocal told
        if step and step != told:
            typer.echo(f"{_elapsed(start)} {step}", err=True)
            told = step

    if not sys.stderr.isatty():
        yield plain
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("") as status:

        def live(step: str) -> None:
            nonlocal told
            if step and step != told:
                if told:
                    console.print(f"{_elapsed(start)} {told}", markup=False, highlight=False)
                told = step
            # rich would read the brackets of a message as its own markup.
            status.update(f"{_elapsed(start)} {told}".replace("[", r"\["))

        yield live
    if told:
        console.print(f"{_elapsed(start)} {told}", markup=False, highlight=False)


def _elapsed(start: float) -> str:
    return str(timedelta(seconds=int(monotonic() - start)))
