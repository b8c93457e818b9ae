"""What the first boot makes of storage that fails late, and of another node that is faster."""

import errno
import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed_node import homes
from trainshed_node.errors import NodeError
from trainshed_node.read_probe import must_be_readable
from trainshed_node.write_probe import must_be_writable


def failing(number: int) -> Callable[..., None]:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_server_that_keeps_no_writes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", failing(errno.EIO))

    with pytest.raises(NodeError, match=r"cannot be written \(Input/output error\)"):
        must_be_writable(tmp_path, print)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT])
def test_what_is_full_or_somebody_s_decision_is_only_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr("os.fsync", failing(number))
    said: list[str] = []

    must_be_writable(tmp_path, said.append)

    assert said == [f"{tmp_path}: WARNING: no file was written there ({os.strerror(number)})"]


class Unreadable:
    """A folder that opens, and whose entries S3 refuses."""

    def __enter__(self) -> "Unreadable":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""

    def __next__(self) -> None:
        failing(errno.EIO)()


def test_a_folder_whose_entries_cannot_be_listed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.scandir", lambda _: Unreadable())

    with pytest.raises(NodeError, match=r"cannot be read \(Input/output error\)"):
        must_be_readable(tmp_path)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder, not made yet, of the only two users: a person and a service."""
    people = tmp_path / "home"
    people.mkdir()

    def user(name: str, number: int) -> pwd.struct_passwd:
        return pwd.struct_passwd((name, "x", number, number, "", f"{people / name}", "/bin/sh"))

    monkeypatch.setattr(homes, "HOME", str(people))
    monkeypatch.setattr("pwd.getpwall", lambda: [user("service", 999), user("person", 1000)])
    monkeypatch.setattr("os.chown", lambda *_, **__: None)
    return people / "person"


def test_only_people_get_a_home_folder(home: Path) -> None:
    homes.make_homes(print)

    assert [*home.parent.iterdir()] == [home]


def test_the_folder_of_a_node_that_was_faster_stays(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faster(*_: object, **__: object) -> None:
        (home / "work").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr("os.chown", faster)

    homes.make_homes(print)

    assert [*home.parent.rglob("*")] == [home, home / "work"]
