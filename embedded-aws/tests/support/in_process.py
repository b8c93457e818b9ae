"""An embedded AWS within the process of the tests."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def in_process_aws() -> Iterator[str]:
    """Serve an embedded AWS that is not seeded, and yield its URL."""
    # Here, because loading moto takes a second that other tests do not need.
    from moto.server import ThreadedMotoServer

    from embedded_aws import services

    services.install()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    yield f"http://localhost:{port}"
    server.stop()
