"""A job on plain EC2 nodes: what Systems Manager's agent starts on each, and kills."""

import base64
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from launched_nodes import LAUNCH, Node

from trainshed_launch.scope import memory_limit_kib

PROGRAM = LAUNCH.with_name("trainshed-run-job")
Start = Callable[..., Node]
# A training that writes a checkpoint when it is asked to end.
TRAINING = """
trap 'echo checkpoint >>"$CHECKPOINT"; exit 7' TERM
echo "$NODE_RANK of $NNODES: $GREETING"
while :; do sleep 0.1; done
"""


def encoded(document: object) -> str:
    return base64.b64encode(json.dumps(document).encode()).decode()


@pytest.fixture
def hosts() -> list[str]:
    process = os.getpid()
    return [f"127.{process >> 8 & 127 or 1}.{process & 255}.{end}" for end in (30, 31)]


@pytest.fixture
def start(tmp_path: Path, hosts: list[str]) -> Iterator[Start]:
    started: list[Node] = []

    def start_on(index: int, job: object, *options: str) -> Node:
        log = tmp_path / f"node{index}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, PROGRAM, *options, job if isinstance(job, str) else encoded(job)],
                env={
                    "PATH": os.environ["PATH"],
                    "EMBEDDED_AWS_ADDRESS": hosts[index],
                    "AWS_EC2_METADATA_DISABLED": "true",
                },
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append(Node(process=process, log=log))
        return started[-1]

    yield start_on
    for node in started:
        if node.process.poll() is None:
            node.process.terminate()
            node.process.wait()


def job(hosts: list[str], *command: str, **more: Any) -> dict[str, Any]:
    return {"name": "job-1", "hosts": hosts, "command": command, **more}


def test_the_nodes_of_a_job_meet_and_its_variables_win(start: Start, hosts: list[str]) -> None:
    defaults = encoded({"GREETING": "hello", "BESIDE": "too"})
    said = 'echo "$NODE_RANK of $NNODES: $GREETING $BESIDE $TRAINSHED_JOB"'
    asked = job(hosts, "trainshed-launch", "sh", "-c", said, environment={"GREETING": "welcome"})

    nodes = [start(index, asked, "--environment", defaults) for index in range(2)]

    assert [node.wait() for node in nodes] == [0, 0]
    assert "0 of 2: welcome too job-1" in nodes[0].said
    assert "1 of 2: welcome too job-1" in nodes[1].said


def test_without_the_launcher_each_node_runs_the_command_by_itself(
    start: Start, hosts: list[str]
) -> None:
    node = start(1, job(hosts, "sh", "-c", "echo alone; exit 3"))

    assert node.wait() == 3
    assert node.said == "alone\n"


def test_a_job_may_have_as_many_files_open_as_the_agent_may_allow(
    start: Start, hosts: list[str]
) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))

    try:
        node = start(0, job(hosts, "sh", "-c", "ulimit -n"))
        assert node.process.wait(20) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert node.log.read_text().split()[-1] == str(before[1])


def test_a_killed_command_lets_the_training_write_its_checkpoint(
    start: Start, hosts: list[str], tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    variables = {"CHECKPOINT": str(checkpoint), "GREETING": "hello"}
    asked = job(hosts, "trainshed-launch", "sh", "-c", TRAINING, environment=variables)
    main, child = (start(index, asked) for index in range(2))
    main.wait_until("0 of 2: hello")
    child.wait_until("1 of 2: hello")

    # As the agent does when a command is cancelled or takes too long: the whole group, at once.
    os.killpg(main.process.pid, signal.SIGKILL)

    assert child.wait() == 7
    assert checkpoint.read_text() == "checkpoint\ncheckpoint\n"


def test_sigterm_is_passed_on(start: Start, hosts: list[str], tmp_path: Path) -> None:
    variables = {"CHECKPOINT": str(tmp_path / "checkpoint")}
    node = start(0, job(hosts[:1], "trainshed-launch", "sh", "-c", TRAINING, environment=variables))
    node.wait_until("0 of 1: ")

    node.process.terminate()

    assert node.wait() == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("!", "the job is not a JSON object in base64"),
        (encoded([]), "the job is not a JSON object in base64"),
        (encoded({}), "command of the job must be a list of texts"),
        (encoded({"command": ["true"], "hosts": []}), "the job needs a command and hosts"),
        (
            encoded({"command": ["true"], "hosts": ["a"], "environment": {"A": 1}}),
            "variables of the job must be texts",
        ),
        (
            encoded({"command": ["no-such-program"], "hosts": ["a"]}),
            "no-such-program cannot be started: No such file or directory",
        ),
    ],
)
def test_what_is_no_job_is_reported_in_one_line(start: Start, text: str, said: str) -> None:
    node = start(0, text)

    assert node.wait() in (78, 127)
    assert f"trainshed-launch: ERROR: {said}" in node.said
    assert node.said.count("\n") == 1


def test_a_job_leaves_memory_to_the_host_and_takes_none_of_the_huge_pages() -> None:
    meminfo = "MemTotal:       1000000 kB\nHugePages_Total:     100\nHugetlb:          200000 kB\n"

    assert memory_limit_kib(meminfo) == 760_000
    assert memory_limit_kib("MemTotal:       1000000 kB\n") == 950_000
