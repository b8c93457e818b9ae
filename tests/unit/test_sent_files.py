"""Files of this machine that go with a job: which they are, and how much they may be."""

import random
from pathlib import Path

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
