"""Run a tool that is a program of its own, and read the JSON that it prints."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trainshed.errors import Failure, one_line


def printed_json(command: Sequence[str], folder: Path) -> Any:
    """Return what a program prints, run in a folder where it finds no settings of its own.

    Raises:
        Failure: that is not JSON.
    """
    with started(command, folder) as process:
        return answer(process)


@contextmanager
def started(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a program, and end it when nobody waits for its answer any more.

    Raises:
        Failure: it does not start.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise Failure(f"{command[0]} does not start: {error.strerror}") from error
    with process:
        try:
            yield process
        finally:
            process.kill()


def answer(process: subprocess.Popen[str], question: str = "") -> Any:
    """Return what a started program prints once it has read a question.

    Raises:
        Failure: that is not JSON.
    """
    out, err = process.communicate(question)
    try:
        return json.loads(out)
    except ValueError as error:
        said = err.strip().splitlines() or out.strip().splitlines()
        words = one_line(said[-1]) if said else "and printed nothing"
        raise Failure(f"it ended with exit code {process.returncode}: {words}") from error
