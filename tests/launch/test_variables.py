"""The variables that cluster files and submissions are refused are those that trainshed sets."""

import re
from pathlib import Path

import pytest

from trainshed.errors import TrainshedError
from trainshed.jobs import sent_files
from trainshed.jobs.submission import Submission
from trainshed.nodes.variables import BUCKET, LAUNCHER_SETS, OWN
from trainshed_launch.command import Nodes, mpi_environment
from trainshed_launch.notice import DEADLINE

ROOT = Path(__file__).parents[2]
# What a user may set, by the documentation of the launcher; the second where the cluster has no
# bucket of its own. And what is in no job.
OF_USERS = {"TRAINSHED_DEVICES", BUCKET, "TRAINSHED_PROCESSES"}
OF_BUILDS = {"TRAINSHED_BASE"}


def test_what_the_launcher_sets_is_reserved() -> None:
    nodes = Nodes(addresses=("10.20.0.4",), rank=0, processes=1)

    assert LAUNCHER_SETS.keys() == {*nodes.environment, *mpi_environment(Path("/agent"))}
    assert {DEADLINE, sent_files.VARIABLE} <= OWN.keys()


def test_every_name_in_the_programs_of_jobs_is_reserved_or_the_users() -> None:
    folders = ("packer/files/opt/trainshed", "containers", "src/trainshed/nodes")
    files = [each for name in folders for each in (ROOT / name).rglob("*") if each.is_file()]
    named = {
        found
        for file in files
        if "__pycache__" not in file.parts
        for found in re.findall(r"\bTRAINSHED_[A-Z]+\b", file.read_text(errors="ignore"))
    }

    assert named - OWN.keys() - LAUNCHER_SETS.keys() == OF_USERS | OF_BUILDS


@pytest.mark.parametrize("name", [*OWN, *LAUNCHER_SETS])
def test_a_launched_job_is_given_none_of_them(name: str) -> None:
    with pytest.raises(TrainshedError, match=f"^variable {name}: "):
        Submission(
            name="train", command=("trainshed-launch", "true"), nodes=1, environment={name: "x"}
        )


def test_a_job_without_the_launcher_may_have_what_that_would_set() -> None:
    environment = dict.fromkeys(LAUNCHER_SETS, "x")

    plain = Submission(name="train", command=("torchrun",), nodes=1, environment=environment)

    assert plain.environment == environment
