"""The folder of a rehearsal: what stays of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from trainshed.rehearse.workplace import workplace

OTHER = """
import sys, tempfile
from trainshed.rehearse.workplace import workplace

tempfile.tempdir = {!r}
with workplace() as place:
    place.log.touch()
    (place.temporary / "checkpoint").touch()
    print(place.folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty temporary folder."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_only_the_log_stays_and_is_not_removed_later(temporary: Path) -> None:
    with workplace() as place:
        place.log.touch()
        (place.temporary / "checkpoint").touch()
    with workplace():
        pass

    assert [path for path in temporary.rglob("*") if path.is_file()] == [place.log]
    assert not place.temporary.exists()


def test_without_a_log_nothing_stays(temporary: Path) -> None:
    with pytest.raises(ValueError, match="wrong"), workplace():
        raise ValueError("wrong")

    assert not list(temporary.iterdir())


def test_what_a_killed_process_left_is_removed_but_not_what_is_in_use(temporary: Path) -> None:
    script = OTHER.format(str(temporary))
    command, pipe = [sys.executable, "-c", script], subprocess.PIPE
    # It ends with the pipe, even if this test fails.
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other:
        assert other.stdout
        folder = Path(other.stdout.readline().decode().strip())
        with workplace():
            pass
        running = list(folder.iterdir())
        other.kill()

    left = list(folder.iterdir())
    with workplace():
        pass

    assert len(running) == len(left) == 3
    assert not list(temporary.iterdir())
