"""A boot is measured: seconds and bytes received, step by step."""

from pathlib import Path

import pytest
from cluster_node import EFA, FI_INFO, ClusterNode, fi_info
from node_root import needs_namespaces
from skips import needs

pytestmark = needs_namespaces


@pytest.fixture
def machine(tmp_path: Path) -> ClusterNode:
    return ClusterNode.healthy(tmp_path)


def test_seconds_and_bytes_of_each_step_are_kept_and_said(machine: ClusterNode) -> None:
    machine.write("sys/class/net/lo/statistics/rx_bytes", "99000000\n")
    machine.write("sys/class/net/eth0/statistics/rx_bytes", "12000\n")
    # A tool that downloads something.
    more = "echo 5012000 >/sys/class/net/eth0/statistics/rx_bytes; sleep 0.2"
    machine.tool(FI_INFO, fi_info(8), then=more)

    boot = machine.boot()

    steps = {step["name"]: step for step in boot.state["steps"]}
    assert list(steps) == ["system", "devices", "scratch"]
    assert steps["system"]["received_bytes"] == 12_000
    assert steps["system"]["seconds"] > 0
    assert steps["devices"]["received_bytes"] == 5_000_000
    assert 0.2 <= steps["devices"]["seconds"] < 60
    assert steps["scratch"]["received_bytes"] == 0
    assert boot.lines[-1].startswith("trainshed: boot: ")
    assert "s, 5012 kB received: system " in boot.lines[-1]


@needs(root="it takes the network away")
def test_a_boot_downloads_nothing(machine: ClusterNode) -> None:
    boot = machine.boot("unshare --net /opt/trainshed/first-boot")

    assert boot.code == 0, boot.error
    assert sum(step["received_bytes"] for step in boot.state["steps"]) == 0


def test_a_boot_that_failed_was_measured_too(machine: ClusterNode) -> None:
    machine.unplug(EFA, 0)

    boot = machine.boot()

    assert [step["name"] for step in boot.state["steps"]] == ["system", "devices"]
    assert any(line.startswith("trainshed: boot failed: ") for line in boot.lines)
