"""Files that go with a job: what the command finds on each node, and what is left of them."""

import base64
import bz2
import io
import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from launched_nodes import Nodes, nodes_of_a_job

from trainshed.jobs.sent_files import VARIABLE, pack
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed_launch.errors import LaunchError
from trainshed_launch.sent_files import unpacked

SAY = 'import os; print("sent", os.environ["NODE_RANK"], "TRAINSHED_FILES" in os.environ)\n'
# What it needs at its end, as a training that writes a checkpoint may need a module.
STEPS = """
import signal, sys, time
def end(*_):
    print(open("src/say.py").read().count("sent"), "there at the end", flush=True)
    sys.exit(1)
signal.signal(signal.SIGTERM, end)
print("began", flush=True)
time.sleep(60)
"""


@pytest.fixture
def archive(tmp_path: Path) -> str:
    """Two programs in a folder, one of which can be executed."""
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src/say.py").write_text(SAY)
    (project / "src/steps.py").write_text(STEPS)
    (project / "run").write_text("#!/bin/sh\necho ran in $(basename $PWD): $(ls)\n")
    (project / "run").chmod(0o755)
    return pack(project, [Path("src"), Path("run")]).archive


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_of_a_job(tmp_path, 3) as nodes:
        yield nodes


def start_all(job: Nodes, archive: str, temporary: Path, *command: str) -> None:
    temporary.mkdir()
    for index in range(job.nodes):
        job.start(index, *command, environment={VARIABLE: archive, "TMPDIR": str(temporary)})


def test_every_node_has_the_files_where_the_command_starts_and_nothing_is_left(
    job: Nodes, archive: str, tmp_path: Path
) -> None:
    start_all(job, archive, tmp_path / "tmp", sys.executable, "src/say.py")

    for index, node in job.started.items():
        assert node.wait() == 0, node.said
        assert f"\nsent {index} False\n" in node.said
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_file_that_can_be_executed_stays_so(job: Nodes, archive: str, tmp_path: Path) -> None:
    start_all(job, archive, tmp_path / "tmp", "./run")

    assert job.started[0].wait() == 0
    assert "\nran in trainshed-files-" in job.started[0].said
    assert ": run src\n" in job.started[0].said


def test_what_mpirun_starts_finds_the_files_on_all_nodes(
    job: Nodes, archive: str, tmp_path: Path
) -> None:
    ranks = ("mpirun", "-n", "3", "-env", "NODE_RANK", "any", sys.executable, "src/say.py")
    start_all(job, archive, tmp_path / "tmp", *ranks)

    assert job.started[0].wait() == 0, job.started[0].said
    assert job.started[0].said.count("sent any False\n") == 3


def test_a_child_on_another_machine_has_the_folder_of_the_main_node_while_it_runs(
    archive: str, tmp_path: Path
) -> None:
    with unpacked(archive, tmp_path / "tmp/of-main") as folder:
        assert folder == tmp_path / "tmp/of-main"
        assert (folder / "src/say.py").read_text() == SAY
        assert os.access(folder / "run", os.X_OK)

    assert not folder.exists()


def test_the_files_stay_until_the_other_nodes_have_ended(
    job: Nodes, archive: str, tmp_path: Path
) -> None:
    start_all(job, archive, tmp_path / "tmp", sys.executable, "src/steps.py")
    for node in job.started.values():
        node.wait_until("began")

    job.started[1].process.kill()

    assert job.started[0].wait() == PEER_LOST
    assert job.started[2].wait() == PEER_LOST
    for index in (0, 2):
        assert "1 there at the end" in job.started[index].said
    assert list((tmp_path / "tmp").glob("trainshed-files-*")) == []


@pytest.mark.parametrize(
    "broken",
    ["not base64!", "not ASCII: \xe9", base64.b64encode(b"no archive").decode()],
    ids=["text", "letters", "bytes"],
)
def test_an_archive_that_cannot_be_read_is_reported_in_one_line(
    job: Nodes, tmp_path: Path, broken: str
) -> None:
    start_all(job, broken, tmp_path / "tmp", "true")

    assert job.started[0].wait() == 78
    assert "ERROR: TRAINSHED_FILES cannot be unpacked: " in job.started[0].said
    assert "Traceback" not in job.started[0].said


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../out", tarfile.REGTYPE),
        ("src/../../out", tarfile.REGTYPE),
        ("/tmp/out", tarfile.REGTYPE),
        ("link", tarfile.SYMTYPE),
        ("folder", tarfile.DIRTYPE),
    ],
)
def test_an_archive_that_would_write_elsewhere_is_refused(
    name: str, kind: bytes, tmp_path: Path
) -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = kind, "/etc"
        archive.addfile(member, io.BytesIO())
    sent = base64.b64encode(bz2.compress(content.getvalue())).decode()
    folder = tmp_path / "job/files"

    with (
        pytest.raises(LaunchError, match=f"cannot be unpacked: '{name}' is not a file below"),
        unpacked(sent, folder),
    ):
        pass

    assert not folder.exists()
    assert list(tmp_path.rglob("out")) == []
