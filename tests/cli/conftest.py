"""The command line, called as its script calls it, in this process."""

from collections.abc import Callable

import pytest
from command_line import Answer, runner
from in_directory import endpoint, project

from trainshed.cli import main

__all__ = ["endpoint", "project", "trainshed"]


@pytest.fixture
def trainshed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """Run `trainshed` with these arguments; no region or account comes from the environment."""
    return runner("trainshed", main, capsys, monkeypatch)
