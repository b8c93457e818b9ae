"""The client of API servers, when one ends in the middle of an answer."""

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from embedded_aws.kubernetes.certificates import Authority, new_authority
from embedded_aws.kubernetes.client import ApiClient

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "


@pytest.fixture
def client(tmp_path: Path) -> Iterator[ApiClient]:
    """One whose server answers once with half an answer, and then with a whole one."""
    authority = Authority(tmp_path, new_authority())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.server("server", "127.0.0.1"))
    answers = [HEAD + b'100\r\n\r\n{"half', HEAD + b"2\r\n\r\n{}"]

    def serve(listening: socket.socket) -> None:
        for answer in answers:
            connection = listening.accept()[0]
            with context.wrap_socket(connection, server_side=True) as tls:
                tls.recv(65536)
                tls.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = Thread(target=serve, args=[listening])
        serving.start()
        certificate, key = authority.client("client", "admin")
        yield ApiClient(
            port=listening.getsockname()[1],
            authority=authority.file,
            certificate=certificate,
            key=key,
        )
        serving.join()


def test_an_answer_that_breaks_off_is_no_answer_and_the_next_is_asked_anew(
    client: ApiClient,
) -> None:
    with pytest.raises(OSError, match="GET /version: IncompleteRead"):
        client.call("GET", "/version")

    assert client.call("GET", "/version") == {}
