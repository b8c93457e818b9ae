"""trainshed-launch on nodes of one job: who runs what, how the job ends, and with which code."""

import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from launched_nodes import LAUNCH, Nodes, nodes_of_a_job

from trainshed.nodes.exit_codes import PEER_LOST

# Runs until it is asked to end, and ends with a code of its own, as a training with a checkpoint.
CHECKPOINT = "trap 'echo checkpoint $NODE_RANK; exit 5' TERM; echo running; sleep 60 & wait"
RUNNING = "echo running; exec sleep 60"


# Each rank says who started it, and what the ranks add up to.
ALL_REDUCE = """
import os
from mpi4py import MPI
total = MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank)
# At once, so that the ranks' lines do not mix.
os.write(1, f"started by {os.getppid()} sum {total}\\n".encode())
"""


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_of_a_job(tmp_path, 3) as nodes:
        yield nodes


def test_every_node_runs_the_command_with_its_rank(job: Nodes) -> None:
    main = job.start_all("sh", "-c", "echo $NODE_RANK of $NNODES, main $MASTER_ADDR")

    assert main.wait() == 0
    for index, node in job.started.items():
        assert node.wait() == 0
        assert f"\n{index} of 3, main {job.prefix}10\n" in node.said


def test_the_children_end_before_the_main_node(job: Nodes, tmp_path: Path) -> None:
    # AWS Batch stops what still runs when the main node ends: it would look like a failure.
    slow = _slow_to_exit(tmp_path, seconds=0.5)
    main = job.start(0, "true")
    children = [job.start(index, "true", environment=slow) for index in (1, 2)]

    assert main.wait() == 0

    assert [child.process.poll() for child in children] == [0, 0]


def test_a_child_that_does_not_end_is_not_waited_for_long(job: Nodes, tmp_path: Path) -> None:
    main = job.start(0, "true")
    job.start(1, "true")
    stuck = job.start(2, "true", environment=_slow_to_exit(tmp_path, seconds=100))

    # The child says nothing more, so that after 30 seconds it would be lost.
    assert main.process.wait(timeout=20) == 0

    assert stuck.process.poll() is None


def test_a_command_that_fails_on_a_child_ends_the_job_with_its_code(job: Nodes) -> None:
    failing = "if [ $NODE_RANK = 2 ]; then echo out of memory; exit 9; fi; exec sleep 60"

    main = job.start_all("sh", "-c", failing)

    assert main.wait() == 9
    assert f"ended with exit code 9 on node 2 ({job.prefix}12), its last lines:" in main.said
    assert "  | out of memory" in main.said
    # The others are asked to end.
    assert job.started[1].wait() == 128 + signal.SIGTERM


def test_a_command_that_may_fail_on_some_nodes_ends_on_every_node(job: Nodes) -> None:
    # The nodes that fail do so before the one that succeeds.
    script = (
        'if [ $NODE_RANK != 1 ]; then echo broken $NODE_RANK; exit "$((NODE_RANK + 5))"; fi; '
        "sleep 2; echo well"
    )

    main = job.start_all("sh", "-c", script, options=("--keep-going",))

    assert main.wait() == 5
    assert "the command ended with exit code 5 on the main node" in main.said
    assert f"ended with exit code 7 on node 2 ({job.prefix}12), its last lines:" in main.said
    assert "  | broken 2" in main.said
    assert "on node 1 " not in main.said
    assert [job.started[index].wait() for index in (1, 2)] == [0, 7]
    assert "\nwell\n" in job.started[1].said


def test_a_lost_node_ends_a_job_that_keeps_going(job: Nodes) -> None:
    main = job.start_all("sh", "-c", RUNNING, options=("--keep-going",))
    for node in job.started.values():
        node.wait_until("running")

    job.started[1].process.kill()

    assert main.wait() == PEER_LOST
    assert f"node 1 ({job.prefix}11) is lost" in main.said


def test_mpirun_ends_a_job_that_keeps_going(job: Nodes) -> None:
    assert job.start_all("mpirun", "-n", "3", "true", options=("--keep-going",)).wait() == 0


def test_a_program_on_the_main_node_alone_may_run_mpirun_on_all(job: Nodes) -> None:
    # As nccom-test does: it is given the addresses, and starts mpirun by itself.
    script = (
        "[ $NODE_RANK = 0 ] || exit 0; "
        'mpirun -n 3 -hosts "$(echo $TRAINSHED_ADDRESSES | tr " " ,)" '
        f"{shlex.quote(sys.executable)} -c {shlex.quote(ALL_REDUCE)}"
    )

    main = job.start_all("sh", "-c", script)

    assert main.wait() == 0
    words = [line.split() for line in main.said.splitlines() if line.startswith("started by")]
    assert [word[4] for word in words] == ["3"] * 3
    assert len({word[2] for word in words}) == 3


def test_a_command_that_fails_on_the_main_node_ends_the_job(job: Nodes) -> None:
    main = job.start_all("sh", "-c", "[ $NODE_RANK != 0 ] || exit 3; exec sleep 60")

    assert main.wait() == 3
    assert job.started[2].wait() == 128 + signal.SIGTERM


def test_a_lost_child_ends_the_job_with_the_code_that_is_tried_again(job: Nodes) -> None:
    main = job.start_all("sh", "-c", RUNNING)
    for node in job.started.values():
        node.wait_until("running")

    job.started[1].process.kill()

    assert main.wait() == PEER_LOST
    assert f"node 1 ({job.prefix}11) is lost" in main.said
    # Some orchestrators judge the code of every node.
    assert job.started[2].wait() == PEER_LOST


def test_what_fails_because_a_child_is_lost_is_not_the_reason(job: Nodes, tmp_path: Path) -> None:
    # As gloo and NCCL do: the peers of a lost rank fail before anybody notices that a host is gone,
    # which closes no connection.
    gone = tmp_path / "gone"
    main = job.start_all("sh", "-c", f"echo running; until [ -e {gone} ]; do :; done; exit 1")
    for node in job.started.values():
        node.wait_until("running")

    job.started[1].process.send_signal(signal.SIGSTOP)
    gone.touch()

    assert main.wait() == PEER_LOST
    job.started[1].process.send_signal(signal.SIGCONT)


def test_a_lost_main_node_ends_the_children(job: Nodes) -> None:
    main = job.start_all("sh", "-c", RUNNING)
    for node in job.started.values():
        node.wait_until("running")

    main.process.kill()

    for child in (job.started[1], job.started[2]):
        assert child.wait() == PEER_LOST
        assert f"the main node, {job.prefix}10, is lost" in child.said


def test_nodes_that_pull_an_image_have_half_an_hour(job: Nodes) -> None:
    main = job.start(0, "true", wait=None)

    main.wait_until("waiting for node 1, 2 of 3, 1800 s more: it may still pull the image\n")


def test_a_child_that_never_comes_is_named(job: Nodes) -> None:
    main = job.start(0, "true", wait=2)
    there = job.start(1, "true", wait=20)

    assert main.wait() == PEER_LOST
    assert "node 2 of 3 did not come within 2 s" in main.said
    assert there.wait() == PEER_LOST
    assert "the main node ended before the job began" in there.said


def test_a_main_node_that_never_comes_is_named(job: Nodes) -> None:
    child = job.start(1, "true", wait=2)

    assert child.wait() == PEER_LOST
    assert f"the main node, {job.prefix}10, does not answer on port 29300" in child.said


def test_a_main_node_that_comes_late_is_waited_for(job: Nodes) -> None:
    children = [job.start(index, "true") for index in (1, 2)]
    for child in children:
        child.wait_until("joins the main node")

    main = job.start(0, "echo", "here")

    assert main.wait() == 0
    assert [child.wait() for child in children] == [0, 0]


def test_sigterm_reaches_the_command_everywhere_and_its_own_code_counts(job: Nodes) -> None:
    main = job.start_all("sh", "-c", CHECKPOINT)
    for node in job.started.values():
        node.wait_until("running")

    main.process.terminate()

    assert main.wait() == 5
    for index, node in job.started.items():
        assert node.wait() == 5
        assert f"checkpoint {index}" in node.said


def test_a_child_that_alone_is_asked_to_end_is_lost(job: Nodes) -> None:
    # Its host is shutting down; the job can run on other hosts.
    main = job.start_all("sh", "-c", CHECKPOINT)
    for node in job.started.values():
        node.wait_until("running")

    job.started[2].process.terminate()

    assert main.wait() == PEER_LOST
    assert "checkpoint 2" in job.started[2].said


def test_a_launcher_that_waits_ends_when_it_is_asked_to(job: Nodes) -> None:
    main = job.start(0, "true")
    main.wait_until("waiting for node 1, 2 of 3")
    child = job.start(1, "true")
    child.wait_until("joins the main node")

    main.process.terminate()

    assert main.wait() == 128 + signal.SIGTERM
    assert child.wait() == PEER_LOST


def test_a_port_in_use_is_reported(job: Nodes) -> None:
    with socket.create_server((f"{job.prefix}10", 29300)):
        main = job.start(0, "true")

        assert main.wait() == 78
    assert "cannot listen on port 29300: Address already in use" in main.said


def test_a_command_may_be_long(job: Nodes) -> None:
    main = job.start_all("sh", "-c", "echo ${#0}", "x" * 100_000)

    assert main.wait() == 0
    assert all("100000\n" in node.said for node in job.started.values())


def test_strangers_are_sent_away(job: Nodes) -> None:
    main = job.start(0, "true")
    main.wait_until("waiting for node 1, 2 of 3")
    for sent in (b'{"kind": "hello", "job": "another", "index": 1}\n', b"GET / HTTP/1.1\r\n\r\n"):
        with socket.create_connection((f"{job.prefix}10", 29300)) as stranger:
            stranger.sendall(sent)
            assert stranger.recv(100) == b""

    for index in (1, 2):
        job.start(index, "true")

    assert main.wait() == 0
    assert "is refused" in main.said


def test_a_command_that_does_not_exist_is_reported_on_every_node(job: Nodes) -> None:
    main = job.start_all("nonesuch")

    assert main.wait() == 127
    assert "nonesuch cannot be started: No such file or directory" in main.said


def test_mpirun_starts_its_processes_on_all_nodes_without_ssh(job: Nodes) -> None:
    ranks = ("mpirun", "-n", "6", sys.executable, "-c", ALL_REDUCE)

    main = job.start_all(*ranks, options=("--processes", "2"))

    assert main.wait() == 0
    words = [line.split() for line in main.said.splitlines() if line.startswith("started by")]
    assert [word[4] for word in words] == ["15"] * 6
    # One of MPICH's proxies on each node.
    assert len({word[2] for word in words}) == 3
    assert [job.started[index].wait() for index in (1, 2)] == [0, 0]


def test_mpirun_reaches_the_nodes_where_the_temporary_folder_has_a_long_path(
    job: Nodes, tmp_path: Path
) -> None:
    # Longer than the path of a socket may be.
    folder = tmp_path / ("x" * 100)
    folder.mkdir()
    command = ("mpirun", "-n", "3", sys.executable, "-c", ALL_REDUCE)

    main, *_ = [
        job.start(index, *command, environment={"TMPDIR": str(folder)}) for index in range(3)
    ]

    assert main.wait() == 0
    assert main.said.count("sum 3\n") == 3
    assert [*folder.iterdir()] == []


def test_a_rank_of_mpirun_that_fails_ends_the_job(job: Nodes) -> None:
    failing = "import os; os._exit(7 if os.environ['PMI_RANK'] == '5' else 0)"

    main = job.start_all(
        *("mpirun", "-n", "6", sys.executable, "-c", failing), options=("--processes", "2")
    )

    assert main.wait() == 7


def test_one_node_needs_no_orchestrator(tmp_path: Path) -> None:
    with nodes_of_a_job(tmp_path, 1) as job:
        node = job.start(0, "sh", "-c", "exit 4")

        assert node.wait() == 4
    assert "nodes" not in node.said


def _slow_to_exit(folder: Path, *, seconds: float) -> dict[str, str]:
    """Return variables that make a launcher wait when all but its exit is done."""
    at_exit = f"import atexit, time; atexit.register(time.sleep, {seconds})"
    (folder / "sitecustomize.py").write_text(at_exit, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no command is given"),
        (("--wait", "soon", "true"), "argument --wait: 'soon' is not 0 to 86400 seconds"),
        (("--wait", "nan", "true"), "argument --wait: 'nan' is not 0 to 86400 seconds"),
        (("--wait", "inf", "true"), "argument --wait: 'inf' is not 0 to 86400 seconds"),
        (("--wait", "1e308", "true"), "argument --wait: '1e308' is not 0 to 86400 seconds"),
        (("--wait=-1", "true"), "argument --wait: '-1' is not 0 to 86400 seconds"),
        (("--nodes", "3", "true"), "unrecognized arguments"),
    ],
)
def test_wrong_arguments_are_reported_in_one_line(arguments: tuple[str, ...], said: str) -> None:
    answer = subprocess.run(
        [sys.executable, LAUNCH, *arguments], capture_output=True, text=True, check=False
    )

    assert answer.returncode == 64
    assert said in answer.stderr
    assert answer.stderr.count("\n") == 1
