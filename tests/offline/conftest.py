"""Fixtures of the embedded AWS's own tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trainshed.offline.lifecycle import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A directory whose embedded AWS is taken down in the end."""
    project = Project(tmp_path)
    yield project
    project.down()
