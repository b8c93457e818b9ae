"""The API server reaches what has an address in the VPC, and nothing else."""

import base64
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from cluster_bench import eventually, namespace

from embedded_aws.eks.vpc_access import SOCKET, VpcAccess
from embedded_aws.kubernetes.certificates import Authority, KeyPair, new_authority
from embedded_aws.kubernetes.client import ApiRefusal
from embedded_aws.kubernetes.control_plane import ControlPlane, start
from embedded_aws.kubernetes.settings import ControlPlaneSettings

pytestmark = pytest.mark.server

POD, PORT = "10.20.0.9", 8443
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class Denying(BaseHTTPRequestHandler):
    """A webhook that refuses everything, and says where it was reached."""

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        denied = {"uid": review["request"]["uid"], "allowed": False}
        denied["status"] = {"message": f"by the pod, asked for {self.path}"}
        body = json.dumps({**review, "response": denied}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def authority() -> KeyPair:
    return new_authority()


@pytest.fixture(scope="module")
def webhook(
    authority: KeyPair, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ThreadingHTTPServer]:
    """A webhook on this machine; its certificate is for a service."""
    certificate, key = Authority(tmp_path_factory.mktemp("webhook"), authority).server(
        "webhook", "webhook.reached.svc"
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), Denying)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def control_plane(
    built_kubernetes: None,
    authority: KeyPair,
    webhook: ThreadingHTTPServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ControlPlane]:
    """One that reaches a pod, at which the webhook listens."""
    # Longer than the path of a socket may be.
    folder = tmp_path_factory.mktemp("k" * 120)
    found = start(ControlPlaneSettings(folder=str(folder), authority=authority, vpc_access=SOCKET))

    def reach(address: str, port: int) -> socket.socket | None:
        listening = ("127.0.0.1", webhook.server_port)
        return socket.create_connection(listening) if (address, port) == (POD, PORT) else None

    access = VpcAccess(folder, found.administrator, reach)
    yield found
    access.close()
    found.stop()


@pytest.fixture(scope="module")
def space(control_plane: ControlPlane) -> str:
    """A namespace with a service, whose pod is one of two that are not both ready."""
    name, call = namespace(control_plane, "reached"), control_plane.administrator.call
    ports = [{"name": "webhook", "port": 443, "targetPort": PORT}]
    metadata = {"name": "webhook", "labels": {"kubernetes.io/service-name": "webhook"}}
    call(
        "POST",
        f"/api/v1/namespaces/{name}/services",
        {"metadata": metadata, "spec": {"ports": ports}},
    )
    endpoints = [
        {"addresses": ["10.20.0.8"], "conditions": {"ready": False}},
        {"addresses": [POD], "conditions": {"ready": True}},
    ]
    call(
        "POST",
        f"/apis/discovery.k8s.io/v1/namespaces/{name}/endpointslices",
        {
            "metadata": metadata,
            "addressType": "IPv4",
            "endpoints": endpoints,
            "ports": [{"name": "webhook", "port": PORT, "protocol": "TCP"}],
        },
    )
    return name


def register(control_plane: ControlPlane, space: str, resource: str, port: int) -> None:
    """Register the service as the webhook that judges the new objects of a namespace."""
    service = {"namespace": space, "name": "webhook", "path": f"/{resource}", "port": port}
    bundle = control_plane.settings.authority.certificate.encode()
    judged = {
        "name": f"{resource}.example.com",
        "clientConfig": {"service": service, "caBundle": base64.b64encode(bundle).decode()},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": [resource],
            }
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": space}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    control_plane.administrator.call(
        "POST", _WEBHOOKS, {"metadata": {"name": resource}, "webhooks": [judged]}
    )


def refusal(control_plane: ControlPlane, space: str, resource: str) -> str:
    """Return why an object cannot be created, once the API server knows its webhook."""

    def create() -> str:
        body: dict[str, Any] = {"metadata": {"generateName": "one-"}}
        try:
            control_plane.administrator.call("POST", f"/api/v1/namespaces/{space}/{resource}", body)
        except ApiRefusal as error:
            return str(error)
        return ""

    return str(eventually(create))


def test_a_webhook_behind_a_service_is_asked_at_its_ready_pod(
    control_plane: ControlPlane, space: str
) -> None:
    register(control_plane, space, "configmaps", 443)

    assert "by the pod, asked for /configmaps" in refusal(control_plane, space, "configmaps")


def test_a_port_that_the_service_has_not_leads_nowhere(
    control_plane: ControlPlane, space: str
) -> None:
    register(control_plane, space, "secrets", 8080)

    assert "failed calling webhook" in refusal(control_plane, space, "secrets")


def test_what_is_not_in_the_vpc_is_not_reached(control_plane: ControlPlane) -> None:
    call = control_plane.administrator.call
    call("POST", "/api/v1/nodes", {"metadata": {"name": "stranger"}})
    addresses = [{"type": "InternalIP", "address": "10.20.0.7"}]
    call(
        "PATCH",
        "/api/v1/nodes/stranger/status",
        {"status": {"addresses": addresses}},
        content_type="application/merge-patch+json",
    )

    with pytest.raises(ApiRefusal) as refused:
        call("GET", f"/api/v1/nodes/http:stranger:{control_plane.port}/proxy/version")

    assert "502 Bad Gateway" in str(refused.value)
