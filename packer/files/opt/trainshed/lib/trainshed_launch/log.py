"""What the launcher says, among the output of the command."""

from __future__ import annotations

from collections.abc import Iterable


def log(message: str) -> None:
    """Print a line, at once."""
    print(f"trainshed-launch: {message}", flush=True)


def log_tail(heading: str, lines: Iterable[str]) -> None:
    """Print the last lines that another node printed, marked as such."""
    shown = list(lines)
    log(heading + (", its last lines:" if shown else ", which printed nothing"))
    for line in shown:
        print(f"  | {line}", flush=True)
