"""A command on a terminal, as somebody at it sees it, stops it, or closes the terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

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


class Session:
    """A command that has a terminal of its own, on which somebody looks.

    Args:
        process: the command.
        master: the other end of its terminal.
    """

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self._closing, self._close = os.pipe()
        self._shown = Queue[bytes]()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, text: bytes) -> None:
        """Wait until the command has shown a text."""
        shown = b""
        while text not in shown:
            part = self._shown.get()
            assert part, f"it ended, and had shown last {shown[-1000:]!r}"
            shown += part

    def stop(self, way: str) -> None:
        """Stop it by a signal's name, `Ctrl-C`, or `close`, which closes the terminal."""
        if way == "close":
            # A terminal that is being read does not close.
            os.close(self._close)
            self._reader.join()
            os.close(self._master)
        elif way == "Ctrl-C":
            os.write(self._master, b"\x03")
        else:
            self.process.send_signal(signal.Signals[way])

    def _read(self) -> None:
        """Read what it shows: what nobody reads makes a command wait."""
        part = b"first"
        while part:
            ready, _, _ = select.select([self._master, self._closing], [], [])
            if self._closing in ready:
                return
            try:
                part = os.read(self._master, 65536)
            except OSError:  # Linux's end of file of a terminal
                part = b""
            self._shown.put(part)


@contextmanager
def session(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str]
) -> Iterator[Session]:
    """Run a command as the leader of a session with a terminal; wait until it has ended."""
    master, terminal = pty.openpty()
    with subprocess.Popen(
        command,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        start_new_session=True,
        preexec_fn=_take_terminal,
    ) as process:
        os.close(terminal)
        yield Session(process, master)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    by_default()


def by_default() -> None:
    """Let signals end the process, whatever whoever started the tests has them ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
