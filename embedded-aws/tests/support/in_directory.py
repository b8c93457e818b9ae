"""Fixtures for the command lines: a working directory whose embedded AWS is up."""

from collections.abc import Iterator

import pytest

from embedded_aws.lifecycle import Project
from embedded_aws.settings import ServerSettings


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = Project(tmp_path_factory.mktemp("project"))
    project.up(ServerSettings())
    yield project
    project.down()


@pytest.fixture
def endpoint(project: Project, monkeypatch: pytest.MonkeyPatch) -> str:
    """The working directory has an embedded AWS at this endpoint."""
    monkeypatch.chdir(project.directory)
    running = project.running()
    assert running
    return running.settings.endpoint
