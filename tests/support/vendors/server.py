"""The vendors' hosts on one loopback address, over HTTP and HTTPS."""

import http.server
import secrets
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass(slots=True)
class Tree:
    """What the hosts offer: folders named like the hosts.

    Attributes:
        roots: where to look, first one first.
        gone: beginnings of `host/path` that are answered with 404 whatever the folders hold.
        requests: what was asked for, and the answer's status.
    """

    roots: list[Path]
    gone: set[str] = field(default_factory=set)
    requests: list[tuple[str, int]] = field(default_factory=list)

    def find(self, place: str) -> Path | None:
        """The file of `host/path`."""
        if any(place.startswith(prefix) for prefix in self.gone) or ".." in place.split("/"):
            return None
        found = (root / place for root in self.roots)
        return next((path for path in found if path.is_file()), None)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers GET and HEAD from the tree."""

    protocol_version = "HTTP/1.1"
    tree: Tree

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(body=True)

    def do_HEAD(self) -> None:
        """Send what is known of a file."""
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        host = self.headers.get("Host", "").partition(":")[0]
        parts = urlsplit(self.path)
        place = host + unquote(parts.path) + (f"?{parts.query}" if parts.query else "")
        found = self.tree.find(place)
        status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
        content = found.read_bytes() if found else b""
        self.tree.requests.append((place, status))
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the tree has the requests."""


class Server(http.server.ThreadingHTTPServer):
    """One port of the address."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is no event."""


@contextmanager
def serving(tree: Tree, address: str, certificate: Path) -> Iterator[None]:
    """Serve the tree on ports 80 and 443 of the address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    handler = type("BoundHandler", (Handler,), {"tree": tree})
    plain, secure = (Server((address, port), handler) for port in (80, 443))
    # The handshake is the request thread's, or one slow client would stop all others.
    secure.socket = context.wrap_socket(
        secure.socket, server_side=True, do_handshake_on_connect=False
    )
    threads = [threading.Thread(target=server.serve_forever) for server in (plain, secure)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for server, thread in zip((plain, secure), threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


@contextmanager
def claimed_address() -> Iterator[str]:
    """A loopback address that no other bench of this machine serves vendors on.

    A claim is a socket that nobody talks to, bound for as long as the address is used; 9 is the
    discard service's port.
    """
    while True:
        address = f"127.81.{secrets.randbelow(254) + 1}.{secrets.randbelow(254) + 1}"
        with socket.socket() as claim:
            try:
                claim.bind((address, 9))
            except OSError:
                continue
            yield address
            return
