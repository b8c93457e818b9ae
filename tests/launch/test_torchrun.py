"""PyTorch's own launcher, on nodes that trainshed-launch brings together."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from launched_nodes import Nodes, nodes_of_a_job
from libraries import needs_libraries

pytestmark = needs_libraries("torch")

ROOT = Path(__file__).parents[2]
ALL_REDUCE = ROOT / "examples/all_reduce_torch.py"
FAILING = """
import os
import sys

from torch import distributed

distributed.init_process_group("gloo")
distributed.barrier()
sys.exit(3 if os.environ["RANK"] == "1" else 0)
"""
# Nodes on loopback: gloo would take the interface that the host's name stands for.
LOOPBACK = {"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_of_a_job(tmp_path, 2) as nodes:
        yield nodes


def start(job: Nodes, script: Path) -> None:
    # torchrun listens on all addresses, those of other tests, too.
    with socket.create_server(("", 0)) as free:
        port = str(free.getsockname()[1])
    torchrun = ("torchrun", "--nproc-per-node", "1", "--master-port", port)
    for index in range(2):
        job.start(index, *torchrun, str(script), environment=LOOPBACK)


def test_torchrun_starts_a_rank_on_each_node(job: Nodes) -> None:
    start(job, ALL_REDUCE)

    for index, node in job.started.items():
        assert node.wait() == 0, node.said
        assert re.findall(r"rank (\d) of 2 on \S+: sum 1\n", node.said) == [str(index)]


def test_a_rank_that_fails_ends_the_job(job: Nodes) -> None:
    script = job.folder / "train.py"
    script.write_text(FAILING, encoding="utf-8")

    start(job, script)

    main = job.started[0]
    # torchrun's own code, whatever its rank ends with.
    assert main.wait() == 1
    assert f"the command ended with exit code 1 on node 1 ({job.prefix}11)" in main.said
    assert "exitcode  : 3" in main.said
