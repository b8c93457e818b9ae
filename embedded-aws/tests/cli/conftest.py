"""The command line, called as its script calls it, in this process."""

from collections.abc import Callable

import pytest
from command_line import Answer, runner
from in_directory import endpoint, project

from embedded_aws.cli import main

__all__ = ["command", "endpoint", "project"]


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """Run `embedded-aws` with these arguments; no region or account comes from the environment."""
    return runner("embedded-aws", main, capsys, monkeypatch)
