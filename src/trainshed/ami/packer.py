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
from types import FrameType
from typing import IO

from trainshed.ami.packer_compat import needs_compatible_copy
from trainshed.errors import TrainshedError

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
        stopped: why it was asked to stop: `interrupted`, `timeout`, or empty.
    """

    code: int
    said: str
    stopped: str


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
    """Run a command of Packer to its end; Ctrl-C and SIGTERM stop it so that it cleans up.

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
    stop = _Stop(process, seconds=60 * minutes)
    with stop, log.open("rb") as source:
        source.seek(start)
        while process.poll() is None:
            stop.check_time()
            _read_lines(source, on_line)
            on_line("")
            sleep(_POLL_SECONDS)
        _read_lines(source, on_line)
    said = log.read_bytes()[start:].decode(errors="replace")
    return Ended(code=process.returncode, said=said, stopped=stop.reason)


class _Stop:
    """Passes a request to stop on to Packer, as a terminal does: SIGINT to its whole group.

    Packer's first process ignores a SIGINT that is for it alone. A second request kills Packer.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, seconds: int) -> None:
        self.reason = ""
        self._process = process
        self._deadline = monotonic() + seconds
        self._signals = (signal.SIGINT, signal.SIGTERM)

    def __enter__(self) -> None:
        self._before = {number: signal.signal(number, self._asked) for number in self._signals}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check_time(self) -> None:
        if monotonic() > self._deadline and not self.reason:
            self._stop("timeout")

    def _asked(self, _number: int, _frame: FrameType | None) -> None:
        self._stop("interrupted")

    def _stop(self, reason: str) -> None:
        hard = bool(self.reason)
        self.reason = self.reason or reason
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL if hard else signal.SIGINT)


def _read_lines(source: IO[bytes], on_line: Callable[[str], None]) -> None:
    while line := source.readline():
        if not line.endswith(b"\n"):
            # The rest of it is still to come.
            source.seek(-len(line), os.SEEK_CUR)
            return
        on_line(line.decode(errors="replace").rstrip())
