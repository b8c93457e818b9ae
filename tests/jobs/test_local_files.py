"""Files of this machine that a command names."""

from pathlib import Path

import pytest

from trainshed.jobs.local_files import local_files, local_files_warning


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two files, in a home directory with another one."""
    folder = tmp_path / "home" / "work"
    (folder / "conf").mkdir(parents=True)
    for file in ("train.py", "conf/large.yaml", "python", "../other.py"):
        (folder / file).touch()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return folder


@pytest.mark.parametrize(
    ("command", "found"),
    [
        pytest.param("python train.py", ["train.py"], id="script"),
        pytest.param("./train.py --fast", ["./train.py"], id="program"),
        pytest.param("torchrun train.py --config=conf/large.yaml", ["train.py", "conf/large.yaml"]),
        pytest.param("python missing.py", [], id="not-here-either"),
        pytest.param("python -m train", [], id="module"),
        pytest.param("sh -c conf", [], id="folder"),
        pytest.param("python /bin/sh", [], id="of-every-machine"),
    ],
)
def test_words_that_name_files_here_are_found(command: str, found: list[str]) -> None:
    assert local_files(command.split()) == found


def test_files_below_the_working_and_the_home_directory_are_found_by_absolute_names(
    here: Path,
) -> None:
    names = [str(here / "train.py"), str(here.parent / "other.py")]

    assert local_files(["python", *names]) == names
    assert local_files(["python", "/etc/hostname"]) == []


def test_words_of_a_script_are_looked_at_and_a_long_one_is_no_name() -> None:
    script = f"cd /fsx && python 'train.py' >log; echo {'x' * 5000}"

    assert local_files(["sh", "-c", script]) == ["train.py"]


def test_a_home_of_the_root_makes_no_program_a_file_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/")

    assert local_files(["/bin/sh", "-c", "true"]) == []


def test_the_warning_names_the_files_and_says_where_a_job_finds_some() -> None:
    warning = local_files_warning(["python", "train.py"])

    assert warning is not None
    assert warning.startswith("warning: train.py is a file of this machine: a job of the cluster ")
    assert "container image" in warning
    assert local_files_warning(["python", "-m", "train"]) is None
