"""Port 10250 of the nodes: what their kubelets tell the API server of containers.

Kubernetes, "Communication between Nodes and the Control Plane": the API server reads logs of pods
there, over TLS, with a client certificate. From memory: the path of a log, and the words for one
that is not there. Here only the API server may ask; nothing can be executed.
"""

import json
import select
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from embedded_aws.eks.pod_logs import ContainerLog, LogOptions
from embedded_aws.kubernetes.certificates import Authority, KeyPair
from embedded_aws.kubernetes.supervisor import KUBELET_CLIENT

KUBELET_PORT = 10250
_LOGS = "containerLogs"
_SECONDS = 30
# Returns the log of a container by namespace, pod and name, or its run before; None if there is
# none.
FindLog = Callable[[str, str, str, bool], ContainerLog | None]


class KubeletPort:
    """The port of all nodes of one cluster.

    Args:
        pair: the cluster's certificate authority.
        folder: for keys and certificates.
        find_log: finds the log of a container.
    """

    def __init__(self, pair: KeyPair, folder: Path, find_log: FindLog) -> None:
        self._authority = Authority(Path(mkdtemp(prefix="kubelets-", dir=folder)), pair)
        self._find_log = find_log
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._guard = Lock()

    def connect(self, address: str) -> socket.socket:
        """Return a connection to the port of the node with an address."""
        asking, served = socket.socketpair()
        Thread(target=self._serve, args=[served, self._context(address)], daemon=True).start()
        return asking

    def _context(self, address: str) -> ssl.SSLContext:
        """Return the settings of TLS of a node, which has a certificate of its own."""
        with self._guard:
            if address not in self._contexts:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(*self._authority.server(f"kubelet-{address}", address))
                context.load_verify_locations(self._authority.file)
                context.verify_mode = ssl.CERT_REQUIRED
                self._contexts[address] = context
            return self._contexts[address]

    def _serve(self, connection: socket.socket, context: ssl.SSLContext) -> None:
        connection.settimeout(_SECONDS)
        # Whoever asks may go at any time, or not be let in.
        with (
            connection,
            suppress(OSError),
            context.wrap_socket(connection, server_side=True) as secured,
        ):
            _Answer(secured, self._find_log)
            secured.unwrap()


class _Answer(BaseHTTPRequestHandler):
    """Answers the one request of a connection."""

    protocol_version = "HTTP/1.1"

    def __init__(self, connection: ssl.SSLSocket, find_log: FindLog) -> None:
        self._find_log = find_log
        self._user = _user(connection.getpeercert() or {})
        super().__init__(connection, ("", 0), None)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer with the log of a container."""
        self.close_connection = True
        url = urlsplit(self.path)
        kind, *parts = map(unquote, url.path.strip("/").split("/"))
        if self._user != KUBELET_CLIENT:
            self._say(HTTPStatus.FORBIDDEN, f"{self._user} may not read logs\n")
            return
        if kind != _LOGS or len(parts) != 3:
            self._say(HTTPStatus.NOT_FOUND, "404 page not found\n")
            return
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        namespace, pod, container = parts
        before = asked.get("previous") == "true"
        log = self._find_log(namespace, pod, container, before)
        if log is None:
            waits = f'container "{container}" in pod "{pod}" is waiting to start\n'
            none = f'previous terminated container "{container}" in pod "{pod}" not found\n'
            self._say(HTTPStatus.BAD_REQUEST, none if before else waits)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for part in _chunks(log.read(_options(asked), self._is_gone)):
            self.wfile.write(part)

    def _is_gone(self) -> bool:
        """Whether the other end has closed the connection: it sends no more than its request."""
        return bool(select.select([self.connection], [], [], 0)[0])

    def _say(self, status: HTTPStatus, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text.encode())))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _chunks(parts: Iterator[bytes]) -> Iterator[bytes]:
    for part in parts:
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def _options(asked: dict[str, str]) -> LogOptions:
    since = None
    if "sinceTime" in asked:
        since = datetime.fromisoformat(asked["sinceTime"])
    elif "sinceSeconds" in asked:
        since = datetime.now(UTC) - timedelta(seconds=int(asked["sinceSeconds"]))
    return LogOptions(
        follow=asked.get("follow") == "true",
        tail=int(asked["tailLines"]) if "tailLines" in asked else None,
        since=since,
        timestamps=asked.get("timestamps") == "true",
        limit=int(asked["limitBytes"]) if "limitBytes" in asked else None,
    )


def _user(certificate: Any) -> str:
    """Return the common name of a client's certificate."""
    names = dict(pair for part in certificate.get("subject", ()) for pair in part)
    return str(names.get("commonName", json.dumps(certificate)))
