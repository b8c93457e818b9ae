"""Files of this machine that go with a job: which they are, and how much they may be."""

import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from trainshed.errors import TrainshedError
from trainshed.jobs.sent_files import pack


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    for name in ("train.py", "src/model.py", "src/deep/data.py", "src/__pycache__/model.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {name}\n")
    (folder / "src/.secret").touch()
    monkeypatch.chdir(folder)
    return folder


def test_of_a_folder_all_files_go_but_hidden_and_compiled_ones(project: Path) -> None:
    sent = pack(Path.cwd(), [Path("src"), Path("train.py")])

    assert sent.names == {"train.py", "src/model.py", "src/deep/data.py"}


def test_the_same_files_are_the_same_archive_however_they_are_named(project: Path) -> None:
    first = pack(Path.cwd(), [Path("train.py"), Path("src")])
    (project / "train.py").touch()

    assert pack(Path.cwd(), [project / "src", Path("./train.py"), Path("src/model.py")]) == first


def test_what_is_not_below_the_working_directory_is_refused(project: Path) -> None:
    (project.parent / "other.py").touch()

    with pytest.raises(TrainshedError, match=r"--send \.\./other\.py: it is not below "):
        pack(Path.cwd(), [Path("../other.py")])
    with pytest.raises(TrainshedError, match=r"--send none\.py: there is no such file or folder"):
        pack(Path.cwd(), [Path("none.py")])


def test_a_link_goes_by_the_name_that_the_command_has_for_it(project: Path) -> None:
    (project / "newest.py").symlink_to("train.py")
    (project / "model").symlink_to("src/deep")

    sent = pack(Path.cwd(), [Path("newest.py"), Path("model")])

    assert sent.names == {"newest.py", "model/data.py"}


def test_a_long_name_goes_with_a_job(project: Path) -> None:
    name = f"{'d' * 120}/{'f' * 120}"
    (project / name).parent.mkdir()
    (project / name).touch()

    assert pack(Path.cwd(), [Path(name)]).names == {name}


def test_a_link_that_leads_out_is_refused(project: Path) -> None:
    (project.parent / "secret").touch()
    (project / "src/link").symlink_to("../../secret")

    with pytest.raises(TrainshedError, match=r"src/link cannot be read: a link leads out of "):
        pack(Path.cwd(), [Path("src")])


def test_what_could_not_be_sent_is_reported_not_left_out(project: Path) -> None:
    os.mkfifo(project / "pipe")
    (project / "loop").symlink_to("loop")
    (project / "src/deep/linked").symlink_to(project)
    (project / "hidden/.git").mkdir(parents=True)

    for name, said in (
        ("pipe", "pipe cannot be read: it is a pipe or a device"),
        ("loop", "loop cannot be read: too many levels of symbolic links"),
        ("src", "src/deep/linked cannot be read: it is a link to a folder; put a copy"),
        ("hidden", "--send hidden: the folder has no files to send"),
        ("n" * 300, "--send n{300}: there is no such file or folder"),
    ):
        with pytest.raises(TrainshedError, match=said):
            pack(Path.cwd(), [Path(name)])


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users can reach, as those of pytest are not."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_folder_that_must_not_be_read_is_reported(
    shared: Path, request: pytest.FixtureRequest
) -> None:
    (shared / "src/deep").mkdir(parents=True)
    (shared / "src/deep").chmod(0)
    request.getfixturevalue("ordinary_user")

    with pytest.raises(TrainshedError, match="src/deep cannot be read: permission denied"):
        pack(shared, [Path("src")])


def test_what_does_not_fit_into_a_job_is_refused(project: Path) -> None:
    # Text compresses to a quarter of this; random bytes do not.
    (project / "weights.bin").write_bytes(random.Random(1).randbytes(14 * 1024))

    with pytest.raises(TrainshedError, match=r"too large to go with a job: 19[0-9]{3} char"):
        pack(Path.cwd(), [Path("weights.bin")])


def test_a_large_file_is_refused_before_it_is_read(project: Path) -> None:
    with (project / "huge").open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(TrainshedError, match="too large to go with a job: more than 1048576 bytes"):
        pack(Path.cwd(), [Path("huge")])
