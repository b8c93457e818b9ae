"""Start and stop a control plane, which ends when the process that needs it ends."""

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from embedded_aws.errors import ServerError
from embedded_aws.kubernetes.cache import programs
from embedded_aws.kubernetes.client import ApiClient
from embedded_aws.kubernetes.settings import ControlPlaneSettings
from embedded_aws.kubernetes.supervisor import ADMINISTRATOR
from embedded_aws.private_files import open_private

_PATIENCE_SECONDS = 30
_LOG = "supervisor.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A running control plane.

    Attributes:
        process: the supervisor.
        settings: what it was started with.
        port: of the API server, on 127.0.0.1.
    """

    process: subprocess.Popen[bytes]
    settings: ControlPlaneSettings
    port: int

    @property
    def endpoint(self) -> str:
        """The URL of the API server."""
        return f"https://127.0.0.1:{self.port}"

    @property
    def authority(self) -> Path:
        """File of the certificate that the API server's is signed by."""
        return Path(self.settings.folder) / "ca.crt"

    @property
    def administrator(self) -> ApiClient:
        """A client that may do everything."""
        files = (Path(self.settings.folder) / f"{ADMINISTRATOR}.{kind}" for kind in ("crt", "key"))
        certificate, key = files
        return ApiClient(port=self.port, authority=self.authority, certificate=certificate, key=key)

    def update(self, kubernetes: str) -> None:
        """Update it to a minor version; the endpoint, keys and objects stay.

        Raises:
            EmbeddedAwsError: nothing is built for the version.
            ServerError: it did not start, and the control plane has ended.
        """
        programs(kubernetes)
        self._ask(kubernetes)

    def stop(self) -> None:
        """End it; one that has ended already is not an error."""
        if self.process.stdin:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        try:
            self.process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

    def _ask(self, line: str) -> int:
        """Say something to the supervisor, and return the port of the API server.

        Raises:
            ServerError: it did not start, and nothing of it is left.
        """
        assert self.process.stdin and self.process.stdout
        with suppress(BrokenPipeError):
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        said = self.process.stdout.readline()
        announced = json.loads(said) if said else {}
        if "port" in announced:
            return int(announced["port"])
        self.stop()
        log = Path(self.settings.folder) / _LOG
        reason = announced.get("error") or f"exit code {self.process.returncode}; its log is {log}"
        raise ServerError(f"Kubernetes did not start: {reason}")


def start(settings: ControlPlaneSettings) -> ControlPlane:
    """Start a control plane, and return when its API server is ready.

    Args:
        settings: its settings; the folder must be there and empty.

    Raises:
        EmbeddedAwsError: nothing is built for the version.
        ServerError: it did not start; the message has the end of the log of what failed.
    """
    programs(settings.kubernetes)
    with open_private(Path(settings.folder) / _LOG) as opened:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "embedded_aws.kubernetes.supervisor"],
            # The supervisor watches this pipe, which the system closes when we end.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=opened,
            # Ctrl-C in the terminal is for the command that uses it.
            start_new_session=True,
        )
    found = ControlPlane(process=process, settings=settings, port=0)
    try:
        return replace(found, port=found._ask(settings.to_json()))
    except BaseException:  # Ctrl-C, for instance
        found.stop()
        raise
