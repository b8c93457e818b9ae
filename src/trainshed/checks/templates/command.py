"""Run a tool that is a program of its own, and read the JSON that it prints."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainshed.errors import Failure, one_line


def printed_json(command: Sequence[str], folder: Path) -> Any:
    """Return what a program prints, run in a folder where it finds no settings of its own.

    Raises:
        Failure: that is not JSON.
    """
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Failure(f"{command[0]} does not start: {error.strerror}") from error
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        said = done.stderr.strip().splitlines() or done.stdout.strip().splitlines()
        words = one_line(said[-1]) if said else "and said nothing"
        raise Failure(f"it ended with exit code {done.returncode}: {words}") from error
