"""The API server's way into the VPC: to the ports of nodes, of pods, and of services.

EKS best practices guide, "VPC and subnet considerations": the API server reaches kubelets, and pods
that are webhooks, through its own network interfaces in the cluster's subnets. Here their addresses
lead nowhere on this machine. So the API server asks for each connection at a UNIX socket, as it
asks a Konnectivity server: `CONNECT ADDRESS:PORT HTTP/1.1`. What is not there is refused.

Kubernetes, "Virtual IPs and Service Proxies": a service's address and port stand for those of one
ready endpoint. On EKS kube-proxy does that on nodes, and EKS in the control plane.
"""

import os
import random
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from embedded_aws.errors import EmbeddedAwsError
from embedded_aws.kubernetes.client import ApiClient

SOCKET = "vpc.sock"
_LONGEST_REQUEST = 1 << 14
_PIECE = 1 << 16
_SECONDS = 10
# Returns a connection to an address and a port of the VPC, or None if nothing listens there.
Reach = Callable[[str, int], socket.socket | None]


class VpcAccess:
    """Serves the connections that one API server asks for.

    Args:
        folder: for the socket, which is called SOCKET.
        client: an administrator's, of the API server.
        reach: connects to nodes and pods.
    """

    def __init__(self, folder: Path, client: ApiClient, reach: Reach) -> None:
        self._client, self._reach = client, reach
        self._listening = socket.socket(socket.AF_UNIX)
        # The path of a socket has 107 bytes at most, which the folder's may be longer than.
        opened = os.open(folder, os.O_PATH | os.O_DIRECTORY)
        try:
            self._listening.bind(f"/proc/self/fd/{opened}/{SOCKET}")
        finally:
            os.close(opened)
        (folder / SOCKET).chmod(0o600)
        self._listening.listen()
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        # Ends the thread that accepts.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with self._listening, suppress(OSError):
            while True:
                asking, _ = self._listening.accept()
                Thread(target=self._serve, args=[asking], daemon=True).start()

    def _serve(self, asking: socket.socket) -> None:
        with asking, suppress(OSError):
            asking.settimeout(_SECONDS)
            words = _request_line(asking).split()
            if len(words) != 3 or words[0] != "CONNECT":
                asking.sendall(_answer("405 Method Not Allowed", "only CONNECT is known"))
                return
            try:
                found = self._connect(words[1])
            except (EmbeddedAwsError, OSError, ValueError) as error:
                sys.stderr.write(f"the API server does not reach {words[1]}: {error}\n")
                asking.sendall(_answer("502 Bad Gateway", str(error)))
                return
            asking.sendall(_answer("200 OK"))
            asking.settimeout(None)
            join(asking, found)

    def _connect(self, target: str) -> socket.socket:
        host, _, port = target.rpartition(":")
        address = host.strip("[]")
        for each in (*self._endpoints(address, int(port)), (address, int(port))):
            if found := self._reach(*each):
                return found
        raise EmbeddedAwsError(f"nothing listens at {target}")

    def _endpoints(self, address: str, port: int) -> Iterator[tuple[str, int]]:
        """Yield the ready endpoints for which an address and a port of a service stand."""
        for service in self._client.call("GET", "/api/v1/services")["items"]:
            metadata, spec = service["metadata"], service["spec"]
            if address not in spec.get("clusterIPs", []):
                continue
            named = [each.get("name", "") for each in spec["ports"] if each["port"] == port]
            slices = self._client.call(
                "GET",
                f"/apis/discovery.k8s.io/v1/namespaces/{metadata['namespace']}/endpointslices"
                f"?labelSelector=kubernetes.io/service-name={metadata['name']}",
            )["items"]
            found = [
                (each["addresses"][0], int(target["port"]))
                for one in slices
                for target in one["ports"] or []
                if target.get("name", "") in named
                for each in one["endpoints"] or []
                if is_ready(each)
            ]
            yield from random.sample(found, len(found))


def is_ready(endpoint: Any) -> bool:
    """Return whether an endpoint of a service takes connections.

    Kubernetes API reference, EndpointConditions: one that is not said is taken as true.
    """
    return endpoint.get("conditions", {}).get("ready") is not False


def _request_line(asking: socket.socket) -> str:
    read = b""
    while b"\r\n\r\n" not in read and len(read) < _LONGEST_REQUEST:
        part = asking.recv(_PIECE)
        if not part:
            return ""
        read += part
    return read.partition(b"\r\n")[0].decode(errors="replace")


def _answer(status: str, said: str = "") -> bytes:
    length = f"Content-Length: {len(said.encode())}\r\n" if said else ""
    return f"HTTP/1.1 {status}\r\n{length}\r\n{said}".encode()


def join(one: socket.socket, other: socket.socket) -> None:
    """Pass on what each end sends, until both have sent all; `other` is closed then."""
    back = Thread(target=_pass_on, args=[other, one], daemon=True)
    back.start()
    _pass_on(one, other)
    back.join()
    other.close()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while part := source.recv(_PIECE):
            target.sendall(part)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
