"""What the programs of a node raise on purpose, and how they print it."""

from __future__ import annotations

import sys
from collections.abc import Callable


class NodeError(Exception):
    """Something that a program cannot go on with.

    Args:
        subject: what is wrong, for instance `efa-installer`.
        what: the fault, and what to do, divided by a semicolon.
    """

    def __init__(self, subject: str, what: str) -> None:
        super().__init__(f"{subject}: {what}")


def print_error(error: NodeError) -> None:
    """Print it in one line, at once."""
    print(f"trainshed: ERROR: {error}", file=sys.stderr, flush=True)


def run_program(main: Callable[[], int]) -> None:
    """Run a program and exit with what it returns; print a `NodeError` in one line, exit 1."""
    try:
        code = main()
    except NodeError as error:
        print_error(error)
        code = 1
    sys.exit(code)
