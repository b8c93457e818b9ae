"""Guests are a plug-in: all else does without them."""

import subprocess
import sys
from pathlib import Path

import pytest
from other_package import make_package

pytestmark = pytest.mark.server


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`embedded-aws run` of a package without the folder of guests."""
    make_package(tmp_path, monkeypatch, without="guests")
    monkeypatch.chdir(tmp_path)
    return [str(Path(sys.executable).parent / "embedded-aws"), "run"]


def test_an_embedded_aws_runs_without_them(run: list[str]) -> None:
    done = subprocess.run([*run, "--", "true"], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_their_options_go_with_them(run: list[str]) -> None:
    done = subprocess.run([*run, "--guests", "--", "true"], capture_output=True, text=True)

    assert done.returncode == 2
    assert "no such option: --guests" in done.stderr
