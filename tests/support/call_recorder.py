"""What stands between Packer and the embedded AWS and writes its calls down."""

import http.server
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

_ERROR = """\
<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>Unreachable</Code><Message>{}</Message></Error></Errors>\
<RequestID>00000000-0000-0000-0000-000000000000</RequestID></Response>"""


@dataclass(slots=True)
class Recorder:
    """The calls of one client.

    Attributes:
        upstream: the embedded AWS's endpoint.
        endpoint: what the client must use instead.
        calls: action and parameters, in their order.
    """

    upstream: str
    endpoint: str = ""
    calls: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def actions(self) -> list[str]:
        """The names of the calls, in their order."""
        return [action for action, _ in self.calls]

    def parameters(self, action: str) -> dict[str, str]:
        """What an action was first called with."""
        return next(parameters for name, parameters in self.calls if name == action)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    recorder: Recorder

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parameters = dict(parse_qsl(body.decode()))
        action = parameters.get("Action", "")
        self.recorder.calls.append((action, parameters))
        # With the host for which the call is signed.
        headers = dict(self.headers.items())
        request = urllib.request.Request(self.recorder.upstream + self.path, body, headers)
        try:
            with urllib.request.urlopen(request) as answer:
                self._answer(answer.status, answer.headers["Content-Type"], answer.read())
        except urllib.error.HTTPError as error:
            self._answer(error.code, error.headers["Content-Type"], error.read())
        except urllib.error.URLError as error:
            # The embedded AWS is gone. Anything of 500 and above would be repeated for minutes.
            text = _ERROR.format(error.reason)
            self._answer(400, "text/xml", text.encode())

    def _answer(self, status: int, kind: str | None, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind or "text/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet: the recorder has the calls."""


@contextmanager
def recording(upstream: str) -> Iterator[Recorder]:
    """A recorder in front of an embedded AWS."""
    recorder = Recorder(upstream=upstream)
    handler = type("BoundHandler", (_Handler,), {"recorder": recorder})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    recorder.endpoint = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
