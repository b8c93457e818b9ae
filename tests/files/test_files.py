"""Files that may come from anybody: what is no file, too large or out of the project is refused."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.files import KIB, MissingFile, ReadError, read_bytes, read_text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with an app in a folder, beside a file that is not its own."""
    folder = tmp_path / "repository" / "app"
    (folder / "clusters").mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (folder / "cdk.json").write_text("{}")
    (tmp_path / "private").write_text("key: secret\n")
    (tmp_path / "repository" / "shared").write_text("of all apps")
    monkeypatch.chdir(folder)
    return folder


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [pipe, listening, endless])
def test_what_never_ends_is_refused(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    make(tmp_path / "a.yaml")

    with pytest.raises(ReadError, match=r"a\.yaml cannot be read: it is a pipe or a device; write"):
        read_bytes(tmp_path / "a.yaml")


def test_a_pipe_that_takes_the_place_of_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1")
    resolve = Path.resolve

    def swap(self: Path, strict: bool = False) -> Path:
        path.unlink()
        os.mkfifo(path)
        return resolve(self, strict)

    monkeypatch.setattr(Path, "resolve", swap)

    with pytest.raises(ReadError, match="it is a pipe or a device"):
        read_bytes(path)


def test_a_file_may_be_as_large_as_said_and_no_larger(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(b"x" * KIB)

    assert read_bytes(path, KIB) == b"x" * KIB
    path.write_bytes(b"x" * (KIB + 1))
    with pytest.raises(ReadError, match=r"a\.yaml cannot be read: it is larger than 1 KB$"):
        read_bytes(path, KIB)


def test_a_file_that_says_it_is_empty_is_limited_too() -> None:
    assert os.stat("/proc/self/environ").st_size == 0  # noqa: PTH116

    with pytest.raises(ReadError, match="larger than"):
        read_bytes(Path("/proc/self/environ"), 1)


@pytest.mark.parametrize("link", ["clusters/a.yaml", "clusters/folder"])
def test_a_link_out_of_the_project_is_refused(project: Path, link: str) -> None:
    outside = project.parents[1]
    (project / link).symlink_to(outside if link.endswith("folder") else outside / "private")
    path = Path(link) / "private" if link.endswith("folder") else Path(link)

    for given in (path, path.absolute(), Path("clusters/../clusters").joinpath(*path.parts[1:])):
        with pytest.raises(ReadError) as refused:
            read_text(given)

        assert str(refused.value) == (
            f"{given} cannot be read: a link leads out of {project.parent}, to "
            f"{outside / 'private'}; name that file itself, or put a copy in place of the link"
        )


def test_a_link_to_another_project_is_refused(project: Path) -> None:
    other = project.parents[1] / "other"
    (other / ".git").mkdir(parents=True)
    (other / "a.yaml").write_text("secret")
    (project / "folder").symlink_to(other)

    with pytest.raises(ReadError, match="a link leads out of"):
        read_text(Path("folder/a.yaml"))


@pytest.mark.parametrize("mark", ["cdk.json", "working directory"])
def test_a_project_need_not_be_a_repository(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "private").write_text("secret")
    (folder / "a.yaml").symlink_to(tmp_path / "private")
    if mark == "cdk.json":
        (folder / mark).write_text("{}")
    else:
        monkeypatch.chdir(folder)

    with pytest.raises(ReadError, match=f"a link leads out of {folder}, "):
        read_text(folder / "a.yaml")


def test_links_within_a_repository_are_followed(project: Path) -> None:
    Path("clusters/a.yaml").symlink_to("../../shared")
    Path("more").symlink_to("clusters")

    assert read_text(Path("more/a.yaml")) == "of all apps"


def test_links_that_are_in_no_project_are_followed(project: Path) -> None:
    home = project.parents[1]
    (home / "a.yaml").symlink_to("private")
    (home / "data").symlink_to("repository")

    assert read_text(home / "a.yaml") == "key: secret\n"
    assert read_text(home / "data" / "shared") == "of all apps"
    assert read_text(Path("../../data/shared")) == "of all apps"


def test_lines_end_as_python_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes("\ufeffé\r\nb\rc\n".encode())

    assert read_text(path, encoding="utf-8-sig") == "é\nb\nc\n"


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [
        ("none.yaml", MissingFile, "no such file or directory"),
        ("gone.yaml", MissingFile, "no such file or directory"),
        ("round.yaml", ReadError, "too many levels of symbolic links"),
        ("text/a.yaml", ReadError, "not a directory"),
        (".", ReadError, "it is a directory; name a file in it"),
        ("binary", ReadError, "not UTF-8 text"),
    ],
)
def test_the_reason_is_reported(
    name: str, error: type[ReadError], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone.yaml").symlink_to("nowhere")
    (tmp_path / "round.yaml").symlink_to("round.yaml")
    (tmp_path / "text").write_text("x")
    (tmp_path / "binary").write_bytes(b"\xff")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(error) as refused:
        read_text(Path(name))

    assert str(refused.value) == f"{name} cannot be read: {reason}"


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(ReadError, match=r"^'a\\x00b' cannot be read: embedded null byte"):
        read_bytes(Path("a\0b"))
