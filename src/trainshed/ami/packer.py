"""The Packer program: found on PATH, and run so that its log is whole and it ends cleanly."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import IO

from trainshed.ami.packer_compat import needs_compatible_copy
from trainshed.errors import TrainshedError
from trainshed.stopping import on_stop

# As plugins.pkr.hcl requires. Packages of distributions are older, or another program.
RIGHT_PACKER = (
    "Packer 1.9.4 or later from HashiCorp, https://developer.hashicorp.com/packer/install"
)
_POLL_SECONDS = 0.1
_VERSION = re.compile(r"Packer v(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packer:
    """A Packer.

    Attributes:
        program: its path.
        version: major, minor and patch.
    """

    program: str
    version: tuple[int, int, int]

    @property
    def has_plugins(self) -> bool:
        """Whether `packer init` exists; before 1.7 the builders were part of Packer itself."""
        return not needs_compatible_copy(self.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run of Packer ended.

    Attributes:
        code: its exit code.
        said: all that it said.
        signal: that asked it to stop, if one did.
        in_time: whether it ended before its time was over.
    """

    code: int
    said: str
    signal: int | None
    in_time: bool


def find_packer() -> Packer:
    """Return the Packer on PATH.

    Raises:
        TrainshedError: there is none; the message says where to get it.
    """
    program = shutil.which("packer")
    if program is None:
        raise TrainshedError(f"packer is not on PATH; get {RIGHT_PACKER}")
    answer = subprocess.run(
        [program, "version"], capture_output=True, text=True, env=environment(), check=False
    )
    found = _VERSION.search(answer.stdout)
    if not found:
        # Some distributions ship another program of this name, for instance cracklib's.
        raise TrainshedError(
            f"{program} is not HashiCorp's Packer (packer version says {answer.stdout.strip()!r}); "
            "put that one first on PATH"
        )
    major, minor, patch = map(int, found.groups())
    return Packer(program=program, version=(major, minor, patch))


def environment() -> dict[str, str]:
    """Return what Packer runs with: this environment, without its calls home."""
    return {**os.environ, "CHECKPOINT_DISABLE": "1"}


def run(
    command: Sequence[str],
    *,
    log: Path,
    held: IO[str],
    minutes: int,
    on_line: Callable[[str], None],
) -> Ended:
    """Run a command of Packer to its end; what stops this command stops it so that it cleans up.

    Packer writes into the log by itself: were this process killed, Packer would go on, and clean
    up, with its log whole.

    Args:
        command: program and arguments.
        log: is appended to.
        held: an open file that Packer keeps open too: whoever locked it holds the lock for both.
        minutes: after which it is stopped.
        on_line: gets each line as it appears, and now and then an empty one.
    """
    start = log.stat().st_size if log.exists() else 0
    stop, deadline, in_time = _Stop(), monotonic() + 60 * minutes, True
    with on_stop(stop.ask):
        with log.open("ab") as sink:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=environment(),
                pass_fds=[held.fileno()],
                # A Ctrl-C is for us to hand on, once.
                start_new_session=True,
            )
        stop.hand_on_to(process)
        try:
            with log.open("rb") as source:
                source.seek(start)
                while process.poll() is None:
                    if monotonic() > deadline:
                        in_time = False
                        stop.interrupt()
                    _read_lines(source, on_line)
                    on_line("")
                    sleep(_POLL_SECONDS)
                _read_lines(source, on_line)
        finally:
            # What Packer prints cannot be shown, for instance: it would go on alone.
            stop.interrupt()
            process.wait()
    said = log.read_bytes()[start:].decode(errors="replace")
    return Ended(code=process.returncode, said=said, signal=stop.signal, in_time=in_time)


class _Stop:
    """Hands a request to stop on to Packer, as a terminal does: SIGINT to its whole group.

    Packer's first process ignores a SIGINT that is for it alone. A second request kills Packer.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._interrupted = False

    def ask(self, number: int) -> None:
        self.signal = self.signal or number
        self._send(signal.SIGKILL if self._interrupted else signal.SIGINT)

    def hand_on_to(self, process: subprocess.Popen[bytes]) -> None:
        """Name Packer, which may have been asked to stop while it was being started."""
        self._process = process
        if self.signal is not None:
            self.interrupt()

    def interrupt(self) -> None:
        if not self._interrupted:
            self._send(signal.SIGINT)

    def _send(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._interrupted = True
            os.killpg(self._process.pid, number)


def _read_lines(source: IO[bytes], on_line: Callable[[str], None]) -> None:
    while line := source.readline():
        if not line.endswith(b"\n"):
            # The rest of it is still to come.
            source.seek(-len(line), os.SEEK_CUR)
            return
        on_line(line.decode(errors="replace").rstrip())
