"""A file that somebody else wrote neither stops a command forever nor shows what is private."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Answer

Command = Callable[..., Answer]
SECRET = "4a7d1ed414474e4033ac29ccb8653d9b"
MIB = 1024 * 1024


def pipe(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def private(path: Path) -> None:
    path.symlink_to(Path.cwd().parent / "private")


def huge(path: Path) -> None:
    path.write_bytes(b"k: 1\n" * 13 * MIB)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, beside which is a file of nobody's business."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.yaml").write_text(
        "name: Train\nregion: us-west-2\ninstance: {type: trn1.32xlarge}\n"
    )
    (tmp_path / "private").write_text(f"{SECRET}: [{SECRET}\n")
    monkeypatch.chdir(project)
    return project


@pytest.mark.parametrize(
    "command",
    [
        "check -c FILE",
        "explain FILE",
        "cost FILE",
        "preflight FILE",
        "job list FILE",
        "teardown FILE",
        "lint FILE",
        "bench parse FILE",
        "bench judge FILE --type trn1.32xlarge --nodes 2",
        "comment FILE",
        "ami pins --pins FILE",
        "ami pins --against FILE",
        "ami publish FILE",
    ],
)
@pytest.mark.parametrize("make", [pipe, endless, private, huge])
def test_a_named_file(
    make: Callable[[Path], None], command: str, trainshed: Command, folder: Path
) -> None:
    make(folder / "file.yaml")

    answer = trainshed(*command.replace("FILE", "file.yaml").split())

    assert answer.code == 2
    assert "file.yaml" in answer.err and "cannot be read: " in answer.err
    assert SECRET not in answer.out + answer.err


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("prices.json", "cost train.yaml"),
        ("packer/pins.json", "ami pins"),
        ("cdk.json", "upgrade --to 9.9.9"),
        ("cdk.json", "review"),
    ],
)
@pytest.mark.parametrize("make", [private, huge])
def test_a_file_of_the_project(
    make: Callable[[Path], None], name: str, command: str, trainshed: Command, folder: Path
) -> None:
    (folder / "packer").mkdir()
    make(folder / name)

    answer = trainshed(*command.split())

    assert answer.code == 2
    assert SECRET not in answer.out + answer.err


def test_many_keys_are_refused_before_all_are_read(trainshed: Command, folder: Path) -> None:
    keys = "".join(f"k{number}: 1\n" for number in range(20_000))
    Path("keys.yaml").write_text(keys)

    answer = trainshed("check", "-c", "keys.yaml")

    assert answer.code == 2
    assert answer.err == "error: keys.yaml:10000: stands for more than 10000 values\n"
