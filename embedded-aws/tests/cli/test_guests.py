"""`embedded-aws` with guests, as it is typed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.guests.recipe import prepared
from embedded_aws.guests.root_folder import ROOTS_VARIABLE

Command = Callable[..., Any]


@pytest.fixture
def roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the roots, on a machine that has all else."""
    monkeypatch.setenv(ROOTS_VARIABLE, str(tmp_path / "roots"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    return tmp_path / "roots"


def test_guests_need_their_roots(command: Command, roots: Path) -> None:
    answer = command("up", "--guests")

    assert answer.code == 1
    assert f"there are no roots of this version in {roots}" in answer.err
    assert "embedded-aws guests prepare" in answer.err


def test_preparing_again_says_that_they_are_ready(command: Command, roots: Path) -> None:
    prepared(roots).mkdir(parents=True)

    answer = command("guests", "prepare")

    assert answer.code == 0
    assert f"ready already in {roots}" in answer.out


def test_options_of_guests_need_guests(command: Command, roots: Path) -> None:
    answer = command("up", "--guest-hosts", "hosts")

    assert answer.code == 2
    assert "--guest-hosts and --certificate-authority need --guests" in answer.err


@pytest.mark.parametrize("option", ["--guest-hosts", "--certificate-authority"])
def test_a_file_for_guests_has_to_be_there(
    command: Command, roots: Path, tmp_path: Path, option: str
) -> None:
    answer = command("up", "--guests", option, str(tmp_path / "none"))

    assert answer.code == 2
    assert f"{option} {tmp_path}/none is not a file" in answer.err


def test_the_machine_says_what_it_lacks(
    command: Command, roots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    answer = command("guests", "prepare")

    assert answer.code == 1
    assert "guests need root: run this as root" in answer.err
