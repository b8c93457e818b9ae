"""What a probe finds out of a container."""

import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from embedded_aws.eks.probe_answers import Asked, NoAnswer, ask


class Answers(BaseHTTPRequestHandler):
    """Answers with the status that the path is, and an empty page; /silent not at all."""

    heard: dict[str, str]

    def do_GET(self) -> None:
        type(self).heard = dict(self.headers)
        if self.path == "/silent":
            self.rfile.read()
            return
        self.send_response(int(self.path[1:]))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def asked(port: int) -> Asked:
    """Return a container that listens at a port, which has the name web."""

    def connect(to: int) -> socket.socket | None:
        return socket.create_connection(("127.0.0.1", to)) if to == port else None

    return Asked(
        spec={"ports": [{"name": "web", "containerPort": port}, {"containerPort": 1}]},
        address="10.0.0.1",
        version="1.35",
        connect=connect,
        execute=lambda words, _: (int(words[0]), "printed"),
    )


@pytest.mark.parametrize(
    ("status", "wrong"),
    [
        (200, None),
        (302, None),
        (399, None),
        (400, "HTTP probe failed with statuscode: 400"),
        (503, "HTTP probe failed with statuscode: 503"),
    ],
)
def test_an_http_probe_succeeds_by_its_status(port: int, status: int, wrong: str | None) -> None:
    assert ask({"httpGet": {"path": f"/{status}", "port": "web"}}, asked(port)) == wrong


def test_an_http_probe_says_who_asks_unless_it_is_told_otherwise(port: int) -> None:
    way: dict[str, Any] = {"path": "/200", "port": port}

    ask({"httpGet": way}, asked(port))

    assert Answers.heard["Host"] == f"10.0.0.1:{port}"
    assert Answers.heard["User-Agent"] == "kube-probe/1.35"
    ask({"httpGet": {**way, "httpHeaders": [{"name": "Host", "value": "own"}]}}, asked(port))
    assert Answers.heard["Host"] == "own"


@pytest.mark.parametrize(
    ("way", "wrong"),
    [
        ({"path": "/silent"}, "context deadline exceeded"),
        ({"path": "/200", "scheme": "HTTPS"}, "SSL"),
        ({"path": "/200", "httpHeaders": [{"name": "A", "value": "b\nc"}]}, "header value"),
        ({"path": "/2 0"}, "control characters"),
        ({"path": "/200", "port": 1}, "dial tcp 10.0.0.1:1: connect: connection refused"),
    ],
    ids=str,
)
def test_an_http_probe_that_gets_no_answer_fails(
    port: int, way: dict[str, object], wrong: str
) -> None:
    found = ask({"httpGet": {"port": port, **way}}, asked(port))

    assert found
    assert found.startswith('Get "http')
    assert wrong in found


def test_a_tcp_probe_succeeds_where_something_listens(port: int) -> None:
    assert ask({"tcpSocket": {"port": port}}, asked(port)) is None
    refused = "dial tcp 10.0.0.1:1: connect: connection refused"
    assert ask({"tcpSocket": {"port": 1}}, asked(port)) == refused


def test_a_port_whose_name_is_not_known_says_nothing(port: int) -> None:
    with pytest.raises(NoAnswer, match='parsing "nowhere": invalid syntax'):
        ask({"tcpSocket": {"port": "nowhere"}}, asked(port))


def test_a_command_succeeds_by_its_code(port: int) -> None:
    assert ask({"exec": {"command": ["0"]}}, asked(port)) is None
    assert ask({"exec": {"command": ["1"]}}, asked(port)) == "printed"
