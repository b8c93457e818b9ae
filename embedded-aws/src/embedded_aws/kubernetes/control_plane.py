"""Start and stop a control plane, which ends when the process that needs it ends."""

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from embedded_aws.errors import ServerError
from embedded_aws.kubernetes.cache import programs
from embedded_aws.kubernetes.client import ApiClient
from embedded_aws.kubernetes.settings import ControlPlaneSettings
from embedded_aws.kubernetes.supervisor import ADMINISTRATOR
from embedded_aws.private_files import open_private

_PATIENCE_SECONDS = 30


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


def start(settings: ControlPlaneSettings) -> ControlPlane:
    """Start a control plane, and return when its API server is ready.

    Args:
        settings: its settings; the folder must be there and empty.

    Raises:
        EmbeddedAwsError: nothing is built for the version.
        ServerError: it did not start; the message has the end of the log of what failed.
    """
    programs(settings.kubernetes)
    log = Path(settings.folder) / "supervisor.log"
    with open_private(log) as opened:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "embedded_aws.kubernetes.supervisor"],
            # The supervisor watches this pipe, which the system closes when we end.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=opened,
            # Ctrl-C in the terminal is for the command that uses it.
            start_new_session=True,
        )
    assert process.stdin and process.stdout
    found = ControlPlane(process=process, settings=settings, port=0)
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(settings.to_json().encode() + b"\n")
            process.stdin.flush()
        with process.stdout:
            line = process.stdout.readline()
    except BaseException:  # Ctrl-C, for instance
        found.stop()
        raise
    announced = json.loads(line) if line else {}
    if "port" in announced:
        return ControlPlane(process=process, settings=settings, port=announced["port"])
    found.stop()
    reason = announced.get("error") or f"exit code {process.returncode}; its log is {log}"
    raise ServerError(f"Kubernetes did not start: {reason}")
