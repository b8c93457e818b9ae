"""A command on a terminal, as somebody at it sees it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(
    columns: int, *arguments: str, folder: Path, environment: Mapping[str, str]
) -> tuple[int, str]:
    """Run `trainshed` on a terminal; return its exit code and what it shows there.

    Args:
        columns: of the terminal, which has 50 lines.
        arguments: of the command.
        folder: working directory.
        environment: variables.
    """
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {name: value for name, value in environment.items() if name != "COLUMNS"}
    with subprocess.Popen(
        [sys.executable, "-m", "trainshed.cli", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env={**kept, "TERM": "xterm"},
    ) as process:
        os.close(terminal)
        shown = b""
        try:
            while part := os.read(master, 65536):
                shown += part
        except OSError:  # Linux's end of file of a terminal
            pass
    os.close(master)
    return process.returncode, _STYLE.sub("", shown.decode())
