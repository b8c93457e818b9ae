"""Recipes on nodes, with stand-ins of the benchmarks: what the log says is judged as it stands."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from accelerator_tools import install
from launched_nodes import LAUNCH, Nodes, nodes_of_a_job

from trainshed.catalogue import lookup
from trainshed.collectives import (
    BenchmarkRun,
    Cluster,
    Operation,
    Tool,
    judge,
    read_benchmark,
    slow_nodes,
)
from trainshed.ready_jobs import JobNodes, commands, find_ready_job

NODES = 3


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_of_a_job(tmp_path, NODES) as nodes:
        yield nodes


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH for stand-ins, which is also where hccl_demo is."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "hccl_demo").touch()
    monkeypatch.setattr(commands, "_HCCL_DEMO", str(folder))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def start(job: Nodes, ready_job: str, instance_type: str, *settings: str, **variables: str) -> None:
    """Start a ready job on all nodes, as a job does."""
    found = find_ready_job(ready_job, lookup(instance_type))
    values = found.read(dict(word.split("=") for word in settings))
    work = found.work(JobNodes(instance=lookup(instance_type), count=NODES), values)
    launcher, *words = work.command
    assert launcher == LAUNCH.name
    # Options of the launcher end at its command, which `start` puts after two dashes.
    end = next(index for index, word in enumerate(words) if word in ("sh", "timeout", "mpirun"))
    for index in range(NODES):
        job.start(
            index,
            *words[end:],
            options=tuple(words[:end]),
            environment={**work.environment, **variables},
        )


def logs(job: Nodes) -> list[BenchmarkRun]:
    return [read_benchmark(node.said, str(index)) for index, node in job.started.items()]


def read_main(job: Nodes) -> BenchmarkRun:
    return read_benchmark(job.started[0].said, "log")


BENCHMARKS = [
    pytest.param("dl1.24xlarge", "run_hccl_demo.py", Tool.HCCL_DEMO, id="habana"),
    pytest.param("trn1.32xlarge", "nccom-test", Tool.NCCOM_TEST, id="neuron"),
    pytest.param("p4d.24xlarge", "mpirun", Tool.NCCL_TESTS, id="nvidia"),
]


@pytest.mark.parametrize(("instance_type", "program", "tool"), BENCHMARKS)
@pytest.mark.parametrize("operation", [Operation.ALL_REDUCE, Operation.ALL_GATHER])
def test_the_log_of_collectives_is_judged_as_it_stands(
    job: Nodes, tools: Path, instance_type: str, program: str, tool: Tool, operation: Operation
) -> None:
    install(tools, program)

    start(
        job, "collectives", instance_type, f"operation={operation}", "min_bytes=8M", "max_bytes=32M"
    )

    codes = [node.wait() for node in job.started.values()]
    assert codes == [0] * NODES, job.started[0].said
    run = read_main(job)
    assert (run.tool, run.operation, run.largest.size_bytes) == (tool, operation, 32 * 1024**2)
    assert run.failures == ()
    cluster = Cluster(instance=lookup(instance_type), nodes=NODES)
    assert run.ranks in (None, cluster.ranks)
    assert {finding.rule for finding in judge(run, cluster)} <= {"TS-COL-011"}


HEALTH = [
    pytest.param("dl1.24xlarge", "run_hccl_demo.py", 143, id="habana"),
    pytest.param("trn1.32xlarge", "nccom-test", 1, id="neuron"),
    pytest.param("p4d.24xlarge", "all_reduce_perf", 1, id="nvidia"),
]


@pytest.mark.parametrize(("instance_type", "program", "code"), HEALTH)
def test_health_names_every_broken_node(
    job: Nodes, tools: Path, instance_type: str, program: str, code: int
) -> None:
    install(tools, program)

    start(job, "health", instance_type, BROKEN_NODES="1 2")

    main = job.started[0]
    assert main.wait() == code, main.said
    assert [job.started[index].wait() for index in (1, 2)] == [code] * 2
    for index in (1, 2):
        named = f"ended with exit code {code} on node {index} ({job.prefix}{index + 10})"
        assert named in main.said
    # The one that is well has measured itself.
    assert read_main(job).largest.bus_gb_per_s > 50


@pytest.mark.parametrize(("instance_type", "program", "code"), HEALTH)
def test_the_logs_of_health_show_a_slow_node(
    job: Nodes, tools: Path, instance_type: str, program: str, code: int
) -> None:
    install(tools, program)

    start(job, "health", instance_type, SLOW_NODES="1")

    assert [node.wait() for node in job.started.values()] == [0] * NODES, job.started[0].said
    [finding] = slow_nodes(logs(job))
    assert finding.rule == "TS-COL-012"
    assert finding.message.startswith("1")


def test_health_names_a_node_whose_nccl_uses_tcp(job: Nodes, tools: Path) -> None:
    install(tools, "all_reduce_perf")

    start(job, "health", "p4d.24xlarge", TCP_NODES="2")

    main = job.started[0]
    assert [node.wait() for node in job.started.values()] == [1, 0, 1], main.said
    assert f"ended with exit code 1 on node 2 ({job.prefix}12)" in main.said
    assert "NCCL does not use EFA on this node: Using network Socket" in main.said


@pytest.mark.parametrize("tcp_nodes", ["", "0 1 2"], ids=["well", "failed"])
def test_health_leaves_no_file_on_a_node(
    job: Nodes, tools: Path, tmp_path: Path, tcp_nodes: str
) -> None:
    install(tools, "all_reduce_perf")
    files = tmp_path / "files"
    files.mkdir()

    start(job, "health", "p4d.24xlarge", TCP_NODES=tcp_nodes, TMPDIR=str(files))

    codes = [node.wait() for node in job.started.values()]
    assert codes == [1 if tcp_nodes else 0] * NODES, job.started[0].said
    assert not [*files.iterdir()]


def test_health_asks_for_no_efa_where_there_is_none(job: Nodes, tools: Path) -> None:
    install(tools, "all_reduce_perf")

    start(job, "health", "p3.16xlarge", TCP_NODES="0 1 2")

    assert [node.wait() for node in job.started.values()] == [0] * NODES, job.started[0].said


def test_a_node_that_hangs_is_named(job: Nodes, tools: Path) -> None:
    hanging = tools / "nccom-test"
    hanging.write_text("#!/bin/sh\n[ $NODE_RANK != 2 ] || exec sleep 1000\n", encoding="utf-8")
    hanging.chmod(0o755)
    # A minute is the shortest that may be asked for.
    (tools / "timeout").write_text('#!/bin/sh\nshift; exec /usr/bin/timeout 3s "$@"\n')
    (tools / "timeout").chmod(0o755)

    start(job, "health", "trn1.32xlarge")

    assert job.started[0].wait() == 124
    assert f"exit code 124 on node 2 ({job.prefix}12)" in job.started[0].said
