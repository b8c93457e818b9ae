"""Start and stop a server process, which ends when the process that needs it ends."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from embedded_aws.environment import applied, variables
from embedded_aws.errors import ServerError
from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.pristine import WATCH_STDIN
from embedded_aws.private_files import open_private
from embedded_aws.settings import ServerSettings

# Removing the disks of machines takes time.
_PATIENCE_SECONDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server process.

    Attributes:
        process: the child process.
        settings: its settings, with the actual port.
        log: the file with its requests and tracebacks.
    """

    process: subprocess.Popen[bytes]
    settings: ServerSettings
    log: Path

    def stop(self) -> None:
        """End the process; one that has ended already is not an error."""
        self.process.terminate()
        try:
            self.process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()


def start(settings: ServerSettings, *, log: Path, outlive: bool = False) -> Server:
    """Start a server and return when it answers requests.

    Args:
        settings: its settings.
        log: file for its requests and tracebacks; overwritten.
        outlive: it keeps running when this process ends; otherwise it ends too, even if this
            process is killed.

    Raises:
        ServerError: it did not start; the message has the reason and names the log.
    """
    if settings.machines and (reason := settings.machines.unavailable()):
        raise ServerError(reason)
    if settings.kubernetes and (reason := unavailable()):
        raise ServerError(reason)
    command = [sys.executable, "-P", "-m", "embedded_aws.server"]
    safe = variables(settings, cdk_home=log.parent)
    with open_private(log) as log_file:
        process = subprocess.Popen(
            command if outlive else [*command, WATCH_STDIN],
            # The server may watch this pipe, which the system closes when we end.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            env=applied(safe, os.environ),
            # Ctrl-C in the terminal is for the command that uses the server, not for the server.
            start_new_session=True,
        )
    assert process.stdin and process.stdout
    try:
        # Everybody may read the arguments of a process, and the settings have a secret.
        with suppress(BrokenPipeError):
            process.stdin.write(settings.to_json().encode() + b"\n")
            process.stdin.flush()
        if outlive:
            process.stdin.close()
        with process.stdout:
            line = process.stdout.readline()
    except BaseException:  # Ctrl-C, for instance
        Server(process=process, settings=settings, log=log).stop()
        raise
    announced = json.loads(line) if line else {}
    if "port" in announced:
        settings = replace(settings, port=announced["port"])
        return Server(process=process, settings=settings, log=log)
    process.wait()
    reason = announced.get("error") or _last_line(log) or f"exit code {process.returncode}"
    raise ServerError(f"the embedded AWS did not start: {reason}; its log is {log}")


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
