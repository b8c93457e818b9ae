"""A node whose devices are not all there ends the job at once, and is named.

The real launchers run in roots of their own, whose PCI bus and device files are folders.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from launched_nodes import Nodes, nodes_of_a_job
from node_root import NodeRoot, needs_namespaces

from trainshed.exit_codes import PEER_LOST

pytestmark = needs_namespaces

DEVICES = """
for each in null urandom; do
  touch "$1/dev/$each"; mount --bind "/dev/$each" "$1/dev/$each"
done
"""
# The launcher looks for what the tool prints of each device.
FI_INFO = 'for n in $(seq 4); do echo "    domain: rdmap${n}s0-rdm"; done\n'
# An image of ours, and what the job definition counts on.
IMAGE = {"TRAINSHED_ACCELERATOR": "neuron", "TRAINSHED_DEVICES": '{"efa": 4}'}
WAIT = 30


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_of_a_job(tmp_path, 3) as nodes:
        yield nodes


def machine(folder: Path, efa: int = 4) -> NodeRoot:
    """A machine with EFA devices."""
    folder.mkdir()
    made = NodeRoot.make(folder, devices=DEVICES)
    made.plug(efa, vendor="0x1d0f", device="0xefa1")
    made.verbs(efa, vendor="0x1d0f", device="0xefa1")
    made.write("opt/amazon/efa/bin/fi_info", f"#!/bin/sh\n{FI_INFO}").chmod(0o755)
    return made


def expect(node: NodeRoot, efa: int) -> NodeRoot:
    """Write what user data of a cluster writes on a plain node."""
    settings = {"region": "us-west-2", "cluster": "Train", "devices": {"efa": efa}}
    node.write("etc/trainshed/first-boot.json", json.dumps(settings))
    return node


def test_a_child_that_lacks_a_device_ends_the_job_at_once(job: Nodes, tmp_path: Path) -> None:
    whole, broken = machine(tmp_path / "whole"), machine(tmp_path / "broken", efa=3)

    # Node 1 never comes: nobody waits for it.
    main = job.start(0, "true", wait=WAIT, machine=whole, environment=IMAGE)
    child = job.start(2, "true", wait=WAIT, machine=broken, environment=IMAGE)

    problem = "takes no part: 3 of 4 efa devices are on the PCI bus; terminate its instance, "
    assert main.wait() == PEER_LOST
    assert f"ERROR: node 2 ({job.prefix}12) {problem}" in main.said
    assert child.wait() == PEER_LOST
    assert f"ERROR: this node {problem}" in child.said


def test_a_main_node_that_lacks_a_device_ends_the_job_at_once(job: Nodes, tmp_path: Path) -> None:
    broken = machine(tmp_path / "broken", efa=3)

    main = job.start(0, "true", wait=WAIT, machine=broken, environment=IMAGE)

    assert main.wait() == PEER_LOST
    assert "ERROR: this node takes no part: 3 of 4 efa devices" in main.said


def test_a_device_that_does_not_answer_counts_as_missing(job: Nodes, tmp_path: Path) -> None:
    silent = machine(tmp_path / "silent")
    silent.write("opt/amazon/efa/bin/fi_info", "#!/bin/sh\necho 'no data available'; exit 61\n")

    main = job.start(0, "true", wait=WAIT, machine=silent, environment=IMAGE)

    assert main.wait() == PEER_LOST
    assert "efa devices do not answer (/opt/amazon/efa/bin/fi_info: no data available)" in main.said


@pytest.mark.parametrize("broken", [False, True])
def test_a_plain_node_is_held_against_its_user_data(tmp_path: Path, broken: bool) -> None:
    node = expect(machine(tmp_path / "node", efa=3 if broken else 4), efa=4)

    with nodes_of_a_job(tmp_path, 1) as job:
        launcher = job.start(0, "echo", "trained", machine=node)

        assert launcher.wait() == (PEER_LOST if broken else 0)
    assert ("trained" in launcher.said) is not broken


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({}, id="nothing-expected"),
        pytest.param(IMAGE | {"TRAINSHED_ACCELERATOR": "cpu"}, id="rehearsal-image"),
        pytest.param({"TRAINSHED_DEVICES": '{"efa": 4}'}, id="rehearsal-without-image"),
    ],
)
def test_where_nothing_is_expected_nothing_is_said(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with nodes_of_a_job(tmp_path, 1) as job:
        launcher = job.start(
            0, "true", machine=machine(tmp_path / "node", efa=0), environment=environment
        )

        assert launcher.wait() == 0
    assert "device" not in launcher.said


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ("4", "TRAINSHED_DEVICES: must be a JSON object, not 4; correct it"),
        ('{"efa": "4"}', "TRAINSHED_DEVICES: efa must be a whole number, not '4'; correct it"),
        ("efa=4", "TRAINSHED_DEVICES: is not JSON"),
    ],
)
def test_an_expectation_that_makes_no_sense_is_a_wrong_configuration(
    tmp_path: Path, stated: str, said: str
) -> None:
    with nodes_of_a_job(tmp_path, 1) as job:
        launcher = job.start(0, "true", environment=IMAGE | {"TRAINSHED_DEVICES": stated})

        assert launcher.wait() == 78
    assert f"trainshed-launch: ERROR: {said}" in launcher.said


def test_what_the_entrypoint_of_a_child_finds_ends_the_job_at_once(job: Nodes) -> None:
    # No attempt would end otherwise: it is the job definition that lacks something.
    problem = "no GPU in this container; ask for GPUs in the job definition"

    main = job.start(0, "true", wait=WAIT)
    child = job.start(1, "true", wait=WAIT, environment={"TRAINSHED_PROBLEM": problem})

    assert main.wait() == 78
    assert f"ERROR: node 1 ({job.prefix}11) takes no part: {problem}" in main.said
    assert child.wait() == 78
