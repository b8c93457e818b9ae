"""A control plane for the tests of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from heartbeats import heartbeats

from embedded_aws.kubernetes.control_plane import ControlPlane, start
from embedded_aws.kubernetes.settings import ControlPlaneSettings


@pytest.fixture(scope="module")
def control_plane(
    built_kubernetes: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ControlPlane]:
    """A control plane with JobSet and Kueue."""
    folder = tmp_path_factory.mktemp("kubernetes")
    found = start(ControlPlaneSettings(folder=str(folder), jobset=True, kueue=True))
    with heartbeats(found.administrator):
        yield found
    found.stop()


@pytest.fixture
def folder(built_kubernetes: None, tmp_path: Path) -> Path:
    """An empty folder for a control plane of a test's own."""
    return tmp_path
