"""What trainshed-launch does when EC2 says that it takes a node back."""

import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_bench import until
from launched_nodes import Node, Nodes, nodes_of_a_job

from trainshed.nodes.exit_codes import PEER_LOST
from trainshed.nodes.folders import SPOT_NOTICE
from trainshed_launch.notice import Notices, seconds_left

# A training that writes a checkpoint when it is asked to end, and knows until when it may.
TRAINING = (
    "trap 'echo checkpoint $NODE_RANK before $(cat $TRAINSHED_DEADLINE); exit 5' TERM; "
    "echo running; sleep 60 & wait"
)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_of_a_job(tmp_path, 3) as nodes:
        yield nodes


class Taken:
    """A node with files of its own, where EC2's notices arrive."""

    def __init__(self, folder: Path) -> None:
        self.environment = {"EMBEDDED_AWS_NODE": str(folder)}
        self._file = folder / SPOT_NOTICE.lstrip("/")
        self._file.parent.mkdir(parents=True)

    def notify(self, kind: str, seconds: float = 120) -> str:
        """Write the notice as a node of our AMIs does; return the deadline."""
        deadline = f"{datetime.now(UTC) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"
        self.write(f"{deadline} {kind}\n")
        return deadline

    def write(self, text: str) -> None:
        """Write any text in place of a notice."""
        self._file.write_text(text)


@pytest.fixture
def taken(tmp_path: Path) -> Taken:
    return Taken(tmp_path / "taken")


def start_training(job: Nodes, taken: Taken, index: int) -> Node:
    """Start a training on three nodes, one of which EC2 takes back; return the main node."""
    for number in range(3):
        own = taken.environment if number == index else None
        job.start(number, "sh", "-c", TRAINING, environment=own)
    for node in job.started.values():
        node.wait_until("running")
    return job.started[0]


@pytest.mark.parametrize("text", ["", "2026-11-28T06:02:00Z\n", "soon interruption\n"])
def test_what_is_no_notice_is_none(taken: Taken, text: str) -> None:
    taken.write(text)

    assert Notices(taken.environment).last() is None


@pytest.mark.parametrize(("now", "seconds"), [("06:00:00", 110), ("06:01:50", 0), ("06:03:00", 0)])
def test_a_command_ends_ten_seconds_before_the_node(
    monkeypatch: pytest.MonkeyPatch, now: str, seconds: int
) -> None:
    time = datetime.fromisoformat(f"2026-11-28T{now}+00:00").timestamp()
    monkeypatch.setattr("time.time", lambda: time)

    assert seconds_left("2026-11-28T06:02:00Z") == seconds


@pytest.mark.parametrize("index", [0, 1])
def test_every_node_ends_in_time_with_the_code_that_is_tried_again(
    job: Nodes, taken: Taken, index: int
) -> None:
    main = start_training(job, taken, index)

    deadline = taken.notify("interruption")

    assert main.wait() == PEER_LOST
    for number, node in job.started.items():
        assert node.wait() == PEER_LOST
        assert f"checkpoint {number} before {deadline}\n" in node.said
    name = f"node 1 ({job.prefix}11)" if index else "this node"
    assert f"EC2 takes {name} back (interruption), at {deadline} or later" in main.said


def test_a_job_goes_on_on_a_node_that_is_at_risk_until_ec2_takes_it_back(
    job: Nodes, taken: Taken
) -> None:
    main = start_training(job, taken, 0)

    taken.notify("rebalance")
    main.wait_until("EC2 may take this node back")
    assert "checkpoint" not in main.said

    taken.notify("interruption")
    assert main.wait() == PEER_LOST
    assert "checkpoint 0 before" in main.said


def test_the_main_node_names_another_node_that_is_at_risk(job: Nodes, taken: Taken) -> None:
    main = start_training(job, taken, 1)

    taken.notify("rebalance")

    main.wait_until(f"EC2 may take node 1 ({job.prefix}11) back (a rebalance recommendation)")
    job.started[1].wait_until("EC2 may take this node back")
    assert "checkpoint" not in main.said


def test_a_job_on_a_node_at_risk_that_is_asked_to_end_has_the_commands_own_code(
    job: Nodes, taken: Taken
) -> None:
    taken.notify("rebalance")
    main = start_training(job, taken, 0)

    main.process.send_signal(signal.SIGTERM)

    assert [node.wait() for node in job.started.values()] == [5] * 3


@pytest.mark.parametrize("index", [0, 1])
def test_a_job_is_tried_again_whose_node_at_risk_is_drained(
    tmp_path: Path, taken: Taken, index: int
) -> None:
    # Long ago: the pod has two minutes since the drain.
    taken.notify("rebalance", seconds=-600)
    with nodes_of_a_job(tmp_path, 3, pods=True) as pods:
        start_training(pods, taken, index)

        pods.started[index].process.send_signal(signal.SIGTERM)

        assert [node.wait() for node in pods.started.values()] == [PEER_LOST] * 3
        for number, node in pods.started.items():
            assert f"checkpoint {number} before 20" in node.said
        assert "back (rebalance), at 20" in pods.started[0].said


def test_a_job_is_tried_again_whose_main_node_is_drained_for_another_reason(
    tmp_path: Path, taken: Taken
) -> None:
    with nodes_of_a_job(tmp_path, 3, pods=True) as pods:
        main = start_training(pods, taken, 0)

        main.process.send_signal(signal.SIGTERM)

        assert [node.wait() for node in pods.started.values()] == [PEER_LOST] * 3


def runs(file: Path) -> bool:
    """Return whether the process whose id is in a file has not ended, waited for or not."""
    try:
        state = Path(f"/proc/{file.read_text().strip()}/stat").read_text().rpartition(") ")[2][0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (3, PEER_LOST)])
def test_a_command_that_has_ended_well_everywhere_when_the_notice_comes_is_not_tried_again(
    job: Nodes, taken: Taken, tmp_path: Path, code: int, expected: int
) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    begun.mkdir()
    wait = f"echo $$ >{begun}/$NODE_RANK; echo running; until [ -e {go} ]; do sleep 0.05; done"
    for number in range(3):
        own = taken.environment if number == 0 else None
        job.start(number, "sh", "-c", f"{wait}; exit {code}", environment=own)
    main = job.started[0]
    for node in job.started.values():
        node.wait_until("running")

    # It hears of all of it at once.
    main.process.send_signal(signal.SIGSTOP)
    go.touch()
    until(lambda: not any(map(runs, begun.iterdir())), "the end of the command")
    taken.notify("interruption")
    main.process.send_signal(signal.SIGTERM)
    main.process.send_signal(signal.SIGCONT)

    assert [node.wait() for node in job.started.values()] == [expected] * 3


def test_who_drains_the_node_first_does_not_hide_why(job: Nodes, taken: Taken) -> None:
    main = start_training(job, taken, 0)
    taken.notify("interruption")

    main.process.send_signal(signal.SIGTERM)

    assert main.wait() == PEER_LOST
    assert [node.wait() for node in job.started.values()] == [PEER_LOST] * 3


def test_a_command_that_does_not_end_is_killed_before_the_deadline(
    job: Nodes, taken: Taken
) -> None:
    for number in range(3):
        own = taken.environment if number == 1 else None
        job.start(number, "sh", "-c", "trap '' TERM; echo running; sleep 600", environment=own)
    for node in job.started.values():
        node.wait_until("running")

    # Ten seconds are left for what follows.
    taken.notify("interruption", seconds=10)

    assert [node.wait() for node in job.started.values()] == [PEER_LOST] * 3


def test_a_node_that_ends_soon_takes_no_part(job: Nodes, taken: Taken) -> None:
    deadline = taken.notify("interruption")

    main = job.start(0, "true")
    job.start(1, "true", environment=taken.environment)

    assert main.wait() == PEER_LOST
    assert f"node 1 ({job.prefix}11) takes no part: EC2 takes it back at {deadline}" in main.said


def test_a_job_begins_on_a_node_that_is_only_at_risk(tmp_path: Path, taken: Taken) -> None:
    taken.notify("rebalance")

    with nodes_of_a_job(tmp_path, 1) as job:
        main = job.start(0, "sh", "-c", "echo done", environment=taken.environment)

        assert main.wait() == 0
        assert "done" in main.said
