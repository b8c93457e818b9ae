"""A real API server of Kubernetes for the tests of a module, asked as its administrator."""

import ssl
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from heartbeats import heartbeats
from lightkube import Client, SingleConfig
from lightkube.config.models import Cluster, Context, User

from embedded_aws.kubernetes.cache import unavailable
from embedded_aws.kubernetes.control_plane import ControlPlane, start
from embedded_aws.kubernetes.settings import ControlPlaneSettings
from trainshed.aws import Region
from trainshed.kubernetes.client import FIELD_MANAGER, RetryingTransport
from trainshed.kubernetes.cluster import EksCluster

_SECONDS = 60
# Of nodes of the tests.
KUBELET = "v1.35.4-eks-40737a8"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServer:
    """A control plane, and what our code knows of it."""

    control_plane: ControlPlane
    cluster: EksCluster
    client: Client

    def call(self, method: str, path: str, body: object = None, **form: str) -> Any:
        return self.control_plane.administrator.call(method, path, body, **form)

    def add_node(
        self, name: str, *, labels: Mapping[str, str], taints: Mapping[str, str], **sizes: str
    ) -> None:
        """Register a node as a kubelet does: an object, then its status."""
        given = [
            {"key": key, "value": each, "effect": "NoSchedule"} for key, each in taints.items()
        ]
        known = {**labels, "kubernetes.io/hostname": name}
        node = {"metadata": {"name": name, "labels": known}, "spec": {"taints": given}}
        self.call("POST", "/api/v1/nodes", node)
        self.set_status(name, sizes, ready=True)
        self.set_kubelet(name, KUBELET)
        # The controllers take the taint of a node that is not ready away.
        eventually(lambda: self._taints(name) == set(taints))

    def _taints(self, name: str) -> set[str]:
        found = self.call("GET", f"/api/v1/nodes/{name}")["spec"].get("taints", [])
        return {each["key"] for each in found}

    def set_status(self, name: str, sizes: Mapping[str, str], *, ready: bool) -> None:
        """Tell what a node has, as its kubelet does."""
        condition = {"type": "Ready", "status": str(ready), "reason": "Kubelet"}
        self._say(name, {"capacity": sizes, "allocatable": sizes, "conditions": [condition]})

    def set_kubelet(self, name: str, version: str) -> None:
        """Tell of which version the kubelet of a node is."""
        # The rest of nodeInfo is required, and empty.
        others = (
            *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage"),
            *("containerRuntimeVersion", "kubeProxyVersion", "operatingSystem", "architecture"),
        )
        info = dict.fromkeys(others, "") | {"kubeletVersion": version}
        self._say(name, {"nodeInfo": info})

    def _say(self, name: str, status: Mapping[str, Any]) -> None:
        self.call(
            "PATCH",
            f"/api/v1/nodes/{name}/status",
            {"status": status},
            content_type="application/strategic-merge-patch+json",
        )


def eventually(ask: Callable[[], Any]) -> Any:
    """Return the first answer that is not empty."""
    deadline = monotonic() + _SECONDS
    while not (found := ask()):
        assert monotonic() < deadline, "it did not come about"
        sleep(0.1)
    return found


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """One where it is built, as `make kubernetes` does."""
    if reason := unavailable():
        pytest.skip(reason)
    found = start(ControlPlaneSettings(folder=str(tmp_path_factory.mktemp("kubernetes"))))
    try:
        with administrator(found) as client, heartbeats(found.administrator):
            yield ApiServer(control_plane=found, cluster=known(found), client=client)
    finally:
        found.stop()


def known(control_plane: ControlPlane, endpoint: str | None = None) -> EksCluster:
    """Return what EKS would say of a control plane, at its endpoint or at another one."""
    return EksCluster(
        name="kube",
        region=Region("us-west-2"),
        endpoint=endpoint or control_plane.endpoint,
        authority=b64encode(control_plane.authority.read_bytes()).decode(),
    )


def administrator(control_plane: ControlPlane, endpoint: str | None = None) -> Client:
    """Return our client, which here has a certificate and not a token."""
    administrator = control_plane.administrator
    config = SingleConfig(
        context_name="kube",
        context=Context(cluster="kube"),
        cluster=Cluster(
            server=endpoint or control_plane.endpoint, certificate_auth=str(control_plane.authority)
        ),
        user=User(client_cert=str(administrator.certificate), client_key=str(administrator.key)),
        fname=Path("/kubeconfig"),
    )
    context = ssl.create_default_context(cafile=str(control_plane.authority))
    context.load_cert_chain(administrator.certificate, administrator.key)
    transport = RetryingTransport(verify=context)
    return Client(config, field_manager=FIELD_MANAGER, transport=transport)
