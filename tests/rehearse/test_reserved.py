"""Rehearsals of clusters in reservations and Capacity Blocks, which the rehearsal makes itself."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Answer, runner
from rehearse_project import write_app

from trainshed.cli import main
from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.plan import Fleet, load_fleet

BLOCK = "capacity: {capacity_block: cr-0123456789abcdef0}"
RESERVATION = "capacity: {reservation: cr-0123456789abcdef0, placement_group: trainers}"
CALENDAR = """capacity:
  calendar:
  - {capacity_block: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}
  - {capacity_block: cr-0fedcba9876543210, from: 2126-12-10T11:30Z, until: 2126-12-15T11:30Z}"""
# It ends by itself when its nodes do not.
STEPS = ("trainshed-launch", "--wait", "60", "sh", "-c", "echo step; sleep 90; exit 5")


@pytest.fixture
def rehearse(
    synthesise: Callable[[Fleet], Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Answer]:
    """Rehearse in a project with one cluster, of two nodes."""

    def run(orchestrator: str, capacity: str, *words: str) -> Answer:
        file = tmp_path / "clusters/any.yaml"
        file.parent.mkdir()
        file.write_text(
            f"name: Any\nregion: us-west-2\nzone: usw2-az4\norchestrator: {orchestrator}\n"
            f"instance: {{type: trn1.32xlarge, nodes: {{max: 2}}}}\n{capacity}\n"
        )
        write_app(tmp_path, synthesise(load_fleet([file])))
        monkeypatch.chdir(tmp_path)
        logs = tmp_path / "logs"
        logs.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(logs))
        return runner("trainshed", main, capsys, monkeypatch)(
            "rehearse", "Any", "--loopback", *words
        )

    return run


@pytest.mark.parametrize("orchestrator", ["batch", "ec2"])
@pytest.mark.parametrize("capacity", [BLOCK, RESERVATION])
def test_a_cluster_in_reserved_capacity_runs_its_job(
    rehearse: Callable[..., Answer], orchestrator: str, capacity: str
) -> None:
    answer = rehearse(orchestrator, capacity, "--", "trainshed-launch", "true")

    assert answer.code == 0, answer.out + answer.err


@pytest.mark.parametrize(
    ("capacity", "found"),
    [
        pytest.param(BLOCK, "EC2 ends its instances before that", id="block"),
        pytest.param(CALENDAR, "begins at", id="calendar"),
    ],
)
def test_a_job_whose_block_ends_waits_for_the_next(
    rehearse: Callable[..., Answer], capacity: str, found: str
) -> None:
    answer = rehearse("batch", capacity, "--fault", "block-end", "--", *STEPS)

    assert answer.code != 0
    assert answer.out.count("step") == 1
    assert "│ 1       │ 0    │           │ Host EC2 (instance i-" in answer.out
    [said, *_] = [line for line in answer.out.splitlines() if "job why: TS-JOB-011" in line]
    assert found in said
    assert "the rehearsal has seen why it waits" in answer.out


def test_a_job_of_plain_nodes_fails_when_their_block_ends(
    rehearse: Callable[..., Answer],
) -> None:
    answer = rehearse("ec2", BLOCK, "--fault", "block-end", "--", *STEPS)

    # Which of its nodes ends first, nobody knows.
    assert answer.code in (1, PEER_LOST)
    assert "the job has FAILED after 1 attempt" in answer.out
    assert re.search(r"job why: TS-JOB-016 .* its Capacity Block ended", answer.out)


@pytest.mark.parametrize(
    ("capacity", "said"),
    [
        pytest.param("", "the nodes of Any are in no Capacity Block; set capacity", id="none"),
        pytest.param(RESERVATION, "the nodes of Any are in no Capacity Block", id="reservation"),
        pytest.param(
            "capacity: {capacity_block: 'arn:aws:resource-groups:us-west-2:123456789012:group/G'}",
            "Any is launched into a resource group of your own",
            id="group",
        ),
    ],
)
def test_without_a_block_of_the_file_none_ends(
    rehearse: Callable[..., Answer], capacity: str, said: str
) -> None:
    answer = rehearse("batch", capacity, "--fault", "block-end", "--", *STEPS)

    assert answer.code == 2
    assert said in answer.err
