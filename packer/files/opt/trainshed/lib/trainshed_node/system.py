"""Running the system's commands."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

_NOT_FOUND = 127
_TIMED_OUT = 124


@dataclass(frozen=True)
class Finished:
    """What a command said.

    Attributes:
        code: exit code; 127 when there is no such command, 124 when it took too long.
        output: standard output.
        errors: standard error.
    """

    code: int
    output: str
    errors: str

    @property
    def ok(self) -> bool:
        """It exited with 0."""
        return self.code == 0

    @property
    def last_line(self) -> str:
        """The last line of its output, where commands say what went wrong."""
        lines = (self.errors.strip() or self.output.strip()).splitlines()
        return lines[-1].strip() if lines else f"exit code {self.code}"


def run(
    *command: str, timeout: float = 60, environment: Mapping[str, str] | None = None
) -> Finished:
    """Run a command without a terminal and return what it said; never raises for its failure.

    Args:
        command: name and arguments.
        timeout: seconds until it is killed.
        environment: in place of the program's own.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
        )
    except FileNotFoundError:
        return Finished(_NOT_FOUND, "", f"there is no command {command[0]}")
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        # Not waited for, as subprocess.run does: what hangs in a driver does not end when killed.
        process.kill()
        return Finished(_TIMED_OUT, "", f"{command[0]} took longer than {timeout:.0f} s")
    return Finished(process.returncode, output, errors)


def has_command(name: str) -> bool:
    """Return whether a command is installed."""
    return shutil.which(name) is not None
