"""The control plane of each cluster: a real one, where the server's settings ask for it.

A cluster's endpoint is the address of its API server on this machine. The server asks back who a
token is and what a user may do, at URLs of its own: clients of Kubernetes send no credentials over
plain HTTP. Who knows one can ask the same, and change nothing. What has an address in the VPC it
reaches by `vpc_access`.
"""

import secrets
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from botocore.exceptions import BotoCoreError, ClientError
from moto.core.exceptions import ServiceException

from embedded_aws.actions import Call, Row
from embedded_aws.eks.addon_installs import AddonInstalls
from embedded_aws.eks.calls import unsupported
from embedded_aws.eks.control_plane_logs import AUDIT_LOG, ControlPlaneLogs
from embedded_aws.eks.kubelets import Kubelets
from embedded_aws.eks.vpc_access import SOCKET, VpcAccess
from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.hooks import ServingProcess, when_serving, when_stopping
from embedded_aws.kubernetes.cache import programs
from embedded_aws.kubernetes.certificates import KeyPair
from embedded_aws.kubernetes.client import ApiRefusal
from embedded_aws.kubernetes.control_plane import ControlPlane, start
from embedded_aws.kubernetes.settings import ControlPlaneSettings, Webhooks

WEBHOOKS_PATH = "/_embedded-aws/eks/"
_LOOK_SECONDS = 0.5
# A look takes a moment; a start that takes longer is not waited for.
_END_SECONDS = 2
AUTHENTICATE, AUTHORIZE = "authenticate", "authorize"


class ControlPlanes:
    """The control planes of an embedded AWS, by the ARN of their cluster.

    Args:
        process: that answers its requests.
    """

    def __init__(self, process: ServingProcess) -> None:
        self._process = process
        self._running: dict[str, ControlPlane] = {}
        self._ending = Event()
        self._threads: list[Thread] = []
        self._asking: dict[str, tuple[Call, Row]] = {}
        # The version that a cluster's is to have, and who wants to know when it has.
        self._updates: dict[str, tuple[str, Callable[[str], None]]] = {}

    def check(self, version: str) -> None:
        """Refuse a version of Kubernetes of which nothing can be started here.

        Raises:
            Refusal: UnsupportedOperation, with what to do.
        """
        try:
            programs(version)
        except EmbeddedAwsError as error:
            raise unsupported(f"control planes that are not built ({error})") from error

    def begin(self, call: Call, cluster: Row, then: Callable[[str], None]) -> None:
        """Start a cluster's control plane, which takes seconds, and note its endpoint.

        Args:
            call: in whose account and region.
            cluster: it.
            then: called afterwards, with what went wrong or an empty text.
        """
        asking = secrets.token_urlsafe()
        self._asking[asking] = call, cluster
        settings = ControlPlaneSettings(
            folder=tempfile.mkdtemp(prefix="kubernetes-", dir=self._process.folder),
            kubernetes=cluster["version"],
            service_cidr=cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"],
            webhooks=Webhooks(
                authenticate=self._webhook(asking, AUTHENTICATE),
                authorize=self._webhook(asking, AUTHORIZE),
            ),
            authority=KeyPair(**cluster["authority"]),
            vpc_access=SOCKET,
            audit_log=AUDIT_LOG,
        )

        def begin_alone() -> None:
            try:
                started = start(settings)
            except EmbeddedAwsError as error:
                then(str(error))
                return
            self._running[cluster["arn"]] = started
            cluster["endpoint"] = started.endpoint
            # Before there can be a node group or an add-on, which wait for what these note.
            folder = Path(settings.folder)
            kubelets = Kubelets(call, cluster, started.administrator, folder)
            access = VpcAccess(folder, started.administrator, kubelets.reach)
            installs = AddonInstalls(call, cluster, started.administrator)
            logs = ControlPlaneLogs(call, cluster, Path(settings.folder))
            then("")
            try:
                while self._is_kept(started) and not self._ending.wait(_LOOK_SECONDS):
                    self._update(started, cluster)
                    self._look(started, installs.look, kubelets.look, logs.look)
            finally:
                access.close()

        thread = Thread(target=begin_alone, daemon=True)
        self._threads = [each for each in self._threads if each.is_alive()]
        self._threads.append(thread)
        thread.start()

    def update(self, cluster: Row, version: str, then: Callable[[str], None]) -> None:
        """Have a cluster's control plane updated, which takes seconds.

        Args:
            cluster: it.
            version: the minor version.
            then: called afterwards, with what went wrong or an empty text.
        """
        if cluster["arn"] in self._running:
            self._updates[cluster["arn"]] = version, then
        else:
            then("the API server of the cluster has not started")

    def asking(self, part: str) -> tuple[Call, Row] | None:
        """Return the cluster whose API server has this part of a URL, and its call, or None."""
        return self._asking.get(part)

    def end(self, cluster: Row) -> None:
        """End a cluster's control plane, if it has one."""
        if running := self._running.pop(cluster["arn"], None):
            running.stop()
        self._asking = {part: who for part, who in self._asking.items() if who[1] is not cluster}

    def end_all(self) -> None:
        """End all of them, each when nothing asks it any more."""
        self._ending.set()
        for thread in self._threads:
            thread.join(_END_SECONDS)
        for running in list(self._running.values()):
            running.stop()

    def _is_kept(self, started: ControlPlane) -> bool:
        # A new cluster may have the ARN of one that is gone.
        return any(each is started for each in list(self._running.values()))

    def _update(self, started: ControlPlane, cluster: Row) -> None:
        version, then = self._updates.pop(cluster["arn"], ("", None))
        if then is None:
            return
        try:
            started.update(version)
        except EmbeddedAwsError as error:
            # Nothing of it is left.
            self._running.pop(cluster["arn"], None)
            then(str(error))
        else:
            then("")

    def _look(self, started: ControlPlane, *looks: Callable[[], None]) -> None:
        for look in looks:
            try:
                look()
            except (ApiRefusal, ServiceException, BotoCoreError, ClientError, OSError) as error:
                # For instance while instances end. The next look may do. Whose API server is ended
                # meanwhile is no news.
                if self._is_kept(started) and not self._ending.is_set():
                    sys.stderr.write(f"a cluster of EKS: {error}\n")

    def _webhook(self, asking: str, name: str) -> str:
        return f"http://127.0.0.1:{self._process.settings.port}{WEBHOOKS_PATH}{asking}/{name}"


_control_planes: ControlPlanes | None = None


def control_planes() -> ControlPlanes | None:
    """Return the control planes of this process's embedded AWS; None if clusters have none."""
    return _control_planes


@when_serving
def _begin(process: ServingProcess) -> None:
    global _control_planes
    _control_planes = ControlPlanes(process) if process.settings.kubernetes else None


@when_stopping
def _end() -> None:
    if _control_planes:
        _control_planes.end_all()
