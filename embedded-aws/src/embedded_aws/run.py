"""Run one command against an embedded AWS of its own."""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from embedded_aws.environment import applied, variables
from embedded_aws.errors import EmbeddedAwsError, ServerError
from embedded_aws.guard import ending_with_us
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class CommandNotFound(EmbeddedAwsError):
    """The command does not exist; the exit code is that of shells."""

    exit_code = 127


class CommandNotExecutable(EmbeddedAwsError):
    """The command is not executable; the exit code is that of shells."""

    exit_code = 126


def run(command: Sequence[str], settings: ServerSettings, *, state: Path) -> tuple[int, Path]:
    """Start an embedded AWS, run the command with its environment, stop it.

    Args:
        command: the program and its arguments.
        settings: of the embedded AWS.
        state: directory for the log and the CDK CLI's caches. The log stays there when the
            command fails.

    Returns:
        The command's exit code, 128 + n when signal n ended it; and the log.

    Raises:
        CommandNotFound: no such program on PATH.
        CommandNotExecutable: the file is not a program.
        ServerError: the server did not start, or died while the command ran.
    """
    _require_program(command[0])
    log = state / f"run-{os.getpid()}.log"
    server = start(settings, log=log)
    try:
        changes = variables(server.settings, cdk_home=state / "cdk")
        code = _wait_for(command, applied(changes, os.environ))
        died = server.process.poll()
    finally:
        server.stop()
    if died is not None:
        raise ServerError(
            f"the embedded AWS ended (exit code {died}) while the command ran, "
            f"which itself ended with {code}; its log is {log}"
        )
    if code == 0:
        log.unlink()
    return code, log


def _require_program(program: str) -> None:
    if shutil.which(program):
        return
    if program and Path(program).exists():
        hint = "it is a folder" if Path(program).is_dir() else f"try chmod +x {program}"
        raise CommandNotExecutable(f"{program} is not executable; {hint}")
    raise CommandNotFound(f"command not found: {shlex.quote(program)}")


def _wait_for(command: Sequence[str], environment: dict[str, str]) -> int:
    process: subprocess.Popen[bytes] | None = None
    # Signals that came while the command was being started: it may run before Popen returns.
    early: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        # Ctrl-C in a terminal reaches the command anyway; a second one would abort its clean-up.
        if number == signal.SIGINT and _in_foreground():
            return
        if process is None:
            early.append(number)
        else:
            process.send_signal(number)

    with ending_with_us() as guard, _handling(forward):
        process = subprocess.Popen(command, env=environment)
        for number in early:
            process.send_signal(number)
        guard(process.pid)
        code = process.wait()
    return code if code >= 0 else 128 - code


@contextmanager
def _handling(handler: "signal._HANDLER") -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in _FORWARDED}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


def _in_foreground() -> bool:
    """Whether the terminal sends its signals to us and our children."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)
