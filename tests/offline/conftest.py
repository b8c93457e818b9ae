"""Fixtures of the embedded AWS's own tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trainshed.offline.lifecycle import Project


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """An embedded AWS within this process, for tests that reach behind its APIs; not seeded."""
    # Here, because loading moto takes a second that other tests do not need.
    from moto.server import ThreadedMotoServer

    import trainshed.offline.resources  # noqa: F401  (registers the resource types)
    from trainshed.offline import cloudformation, services

    cloudformation.install()
    services.install()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    yield f"http://localhost:{port}"
    server.stop()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A directory whose embedded AWS is taken down in the end."""
    project = Project(tmp_path)
    yield project
    project.down()
