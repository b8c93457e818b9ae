"""The embedded AWS of a directory: up, down, and its state in between.

Its state is in `.embedded-aws` of the project's directory, which only its owner may read.
A process is recognised by its id and start time: after a crash its id may belong to another one.
"""

import fcntl
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psutil

from embedded_aws.environment import variables
from embedded_aws.errors import EmbeddedAwsError, ServerError, program
from embedded_aws.private_files import open_private, write_private
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings, new_secret_key

_PATIENCE_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An embedded AWS that was started.

    Attributes:
        pid: its process id.
        started: when the process started; another process of the same id has another number.
        settings: its settings, with the actual port.
        log: the file with its requests and tracebacks.
    """

    pid: int
    started: float
    settings: ServerSettings
    log: Path

    def process(self) -> psutil.Process | None:
        """Return the process, or None when it has ended, even if another one has its id now."""
        try:
            process = psutil.Process(self.pid)
            alive = _start_of(process) == self.started
            return process if alive and process.status() != psutil.STATUS_ZOMBIE else None
        except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
            return None


def _start_of(process: psutil.Process) -> float:
    """Return when a process started, by a clock that nobody sets."""
    if sys.platform != "linux":
        return process.create_time()
    # proc(5): ticks since the boot. psutil adds the time of the boot, which moves with the clock.
    _, _, after_name = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")
    return float(after_name.split()[19])


@dataclass(frozen=True, slots=True)
class Project:
    """A directory with an embedded AWS.

    Attributes:
        directory: usually the working directory.
    """

    directory: Path

    @property
    def state(self) -> Path:
        """The state directory, created if missing; private and ignored by git."""
        state = self.directory / ".embedded-aws"
        try:
            state.mkdir(mode=0o700, exist_ok=True)
            if state.is_symlink():
                raise EmbeddedAwsError(f"{state} is a link; remove it")
            if state.stat().st_uid != os.getuid():
                raise EmbeddedAwsError(
                    f"{state} belongs to another user, who could read and change what is in it; "
                    "remove it, or run this in another directory"
                )
            state.chmod(0o700)
            with open_private(state / ".gitignore") as ignored:
                ignored.write(b"*\n")
        except OSError as error:
            raise EmbeddedAwsError(
                f"cannot write to {state}: {error.strerror}; "
                "run this in a directory that you can write to"
            ) from error
        return state

    def up(self, settings: ServerSettings) -> tuple[Running, bool]:
        """Start the embedded AWS unless it runs; return it, and whether it was started.

        Raises:
            ServerError: it does not start, or runs with other settings.
        """
        with self._locked():
            if running := self.running():
                return _same(running, settings), False
            if settings.port and (holder := _port_holder(settings.port)):
                raise ServerError(
                    f"port {settings.port} is in use by {holder}; "
                    "choose another with --port, or leave it out for a free one"
                )
            settings = replace(settings, secret_key=self._secret_key())
            server = start(settings, log=self.state / "server.log", outlive=True)
            try:
                running = Running(
                    pid=server.process.pid,
                    started=_start_of(psutil.Process(server.process.pid)),
                    settings=server.settings,
                    log=server.log,
                )
                self._remember(running)
            except BaseException:  # Nobody could stop what is not remembered.
                server.stop()
                raise
            return running, True

    def down(self) -> Running | None:
        """Stop the embedded AWS; return it, or None when none was running."""
        with self._locked():
            running = self.running()
            if running:
                _end(running)
            self._file.unlink(missing_ok=True)
            return running

    def running(self) -> Running | None:
        """Return the embedded AWS when it runs."""
        remembered = self.remembered()
        return remembered if remembered and remembered.process() else None

    def remembered(self) -> Running | None:
        """Return what was started last and not stopped since, whether it still runs or not."""
        try:
            return _read(json.loads(self._file.read_text()))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddedAwsError(
                f"{self._file} cannot be read ({error}); delete it and start again"
            ) from error

    def environment(self, running: Running) -> dict[str, str | None]:
        """Return the variables that make AWS this embedded one; None means unset."""
        return variables(running.settings, cdk_home=self.state / "cdk")

    @property
    def _file(self) -> Path:
        return self.directory / ".embedded-aws" / "server.json"

    def _secret_key(self) -> str:
        """Return the secret key of this directory.

        It stays the same, so that after a restart on the same port the printed environment works.
        """
        file = self.state / "secret-key"
        if not file.exists():
            write_private(file, new_secret_key())
        return file.read_text()

    def _remember(self, running: Running) -> None:
        write_private(
            self.state / "server.json",
            json.dumps(
                {
                    "pid": running.pid,
                    "started": running.started,
                    "settings": json.loads(running.settings.to_json()),
                    "log": str(running.log),
                },
                indent=1,
            ),
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let only one `up` or `down` of a directory run at a time."""
        with open_private(self.state / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _end(running: Running) -> None:
    """Terminate the process, and kill it when it does not end.

    psutil's wait() would also wait until the parent, often a slow process 1, has reaped it.
    """
    deadline = monotonic() + _PATIENCE_SECONDS
    if process := running.process():
        process.terminate()
    while process := running.process():
        if monotonic() > deadline:
            process.kill()
        sleep(0.02)


def _port_holder(port: int) -> str | None:
    """Return the process that listens on a TCP port, or None when none does or we may not know."""
    try:
        listening = [
            connection
            for connection in psutil.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
        ]
        if not listening:
            return None
        process = psutil.Process(next(c.pid for c in listening if c.pid))
        return f"{process.name()} (process {process.pid})"
    except (psutil.AccessDenied, psutil.NoSuchProcess, StopIteration):
        # Some systems show this to root only. Then the server's own bind fails.
        return None


def _same(running: Running, asked: ServerSettings) -> Running:
    has = running.settings
    if asked.port in (0, has.port) and replace(asked, port=has.port) == has:
        return running
    raise ServerError(
        f"an embedded AWS with other settings is already running at {has.endpoint} "
        f"(accounts {', '.join(has.accounts)}; regions {', '.join(has.regions)}; "
        f"as of {has.as_of or 'today'}; registry {has.registry or 'none'}; "
        f"guests {'yes' if has.machines else 'no'}; "
        f"kubernetes {'yes' if has.kubernetes else 'no'}; "
        f"jobs on loopback {'yes' if has.jobs.loopback else 'no'}; job speed {has.jobs.speed:g}); "
        f"stop it first: {program.get()} down"
    )


def _read(state: dict[str, Any]) -> Running:
    return Running(
        pid=state["pid"],
        started=state["started"],
        log=Path(state["log"]),
        settings=ServerSettings.from_json(json.dumps(state["settings"])),
    )
