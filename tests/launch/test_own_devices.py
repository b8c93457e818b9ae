"""A node whose devices are not all there ends the job at once, and is named.

The real launchers run in roots of their own, whose PCI bus and device files are folders.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from launched_nodes import Nodes, nodes_of_a_job
from node_root import NodeRoot, needs_namespaces

from trainshed.nodes.exit_codes import PEER_LOST

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


# A card that is lost while the command runs, which then fails.
LOSES_A_CARD = (
    "[ $NODE_RANK != {rank} ] || "
    "{{ rm -r /sys/bus/pci/devices/*.0; echo 'CUDA error: unknown error'; exit 9; }}; "
    "exec sleep 60"
)
GONE = "lost a device while the command ran: 3 of 4 efa devices are on the PCI bus"


def start_all(job: Nodes, folder: Path, *command: str, environment: dict[str, str]) -> None:
    """Start a command on nodes that have all their devices."""
    for index in range(job.nodes):
        whole = machine(folder / f"machine{index}")
        job.start(index, *command, machine=whole, environment=environment)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_device_that_is_lost_while_the_command_runs_ends_the_job_so_that_it_is_tried_again(
    job: Nodes, tmp_path: Path, rank: int
) -> None:
    script = LOSES_A_CARD.format(rank=rank)

    start_all(job, tmp_path, "sh", "-c", script, environment=IMAGE)

    main, node = job.started[0], job.started[rank]
    assert main.wait() == PEER_LOST
    assert node.wait() == PEER_LOST
    name = f"node {rank} ({job.prefix}{rank + 10})" if rank else "this node"
    assert f"trainshed-launch: {name} {GONE}; terminate its instance" in main.said
    assert "the command ended with exit code 9 on" in main.said
    assert GONE in node.said


def test_a_command_that_fails_with_all_devices_there_keeps_its_exit_code(
    job: Nodes, tmp_path: Path
) -> None:
    start_all(job, tmp_path, "sh", "-c", "exit $NODE_RANK", environment=IMAGE)

    assert job.started[0].wait() in (1, 2)
    assert "lost a device" not in job.started[0].said


def test_a_device_that_is_lost_below_mpirun_is_found_on_any_node(
    job: Nodes, tmp_path: Path
) -> None:
    # Hydra's and Open MPI's own way to the other nodes.
    mpirun = tmp_path / "mpirun"
    lose = "rm -r /sys/bus/pci/devices/*.0; exit 9"
    mpirun.write_text(f'#!/bin/sh\nexec $HYDRA_LAUNCHER_EXEC {job.prefix}12 "{lose}"\n')
    for index in range(job.nodes):
        whole = machine(tmp_path / f"machine{index}")
        whole.command("mpirun", mpirun.read_text())
        job.start(index, "mpirun", machine=whole, environment=IMAGE)

    main = job.started[0]
    assert main.wait() == PEER_LOST
    assert f"node 2 ({job.prefix}12) {GONE}" in main.said
    assert f"node 1 ({job.prefix}11) lost" not in main.said


def test_a_job_that_is_asked_to_end_examines_nothing(job: Nodes, tmp_path: Path) -> None:
    script = "trap 'rm -r /sys/bus/pci/devices/*.0; exit 5' TERM; echo running; sleep 60 & wait"
    start_all(job, tmp_path, "sh", "-c", script, environment=IMAGE)
    for node in job.started.values():
        node.wait_until("running")

    # Around the launcher is unshare(1).
    [launcher] = psutil.Process(job.started[0].process.pid).children()
    launcher.terminate()

    assert job.started[0].wait() == 5
    assert not any("lost a device" in node.said for node in job.started.values())


def marks(folder: Path) -> list[str]:
    """The machines that jobs marked unfit."""
    found = folder.glob("*/root/run/trainshed/unfit/*")
    return sorted(path.relative_to(folder).parts[0] for path in found)


def test_a_node_that_lacks_a_device_is_marked_and_no_other(job: Nodes, tmp_path: Path) -> None:
    whole, broken = machine(tmp_path / "whole"), machine(tmp_path / "broken", efa=3)
    for node in (whole, broken):
        (node.path / "run/trainshed/unfit").mkdir(parents=True)

    main = job.start(0, "true", wait=WAIT, machine=whole, environment=IMAGE)
    child = job.start(2, "true", wait=WAIT, machine=broken, environment=IMAGE)

    assert (main.wait(), child.wait()) == (PEER_LOST, PEER_LOST)
    assert "devices are on the PCI bus; its instance goes down, and if the next" in main.said
    assert marks(tmp_path) == ["broken"]


@pytest.mark.parametrize("rank", [0, 1])
def test_a_node_that_lost_a_device_is_marked_and_no_other(
    job: Nodes, tmp_path: Path, rank: int
) -> None:
    for index in range(job.nodes):
        whole = machine(tmp_path / f"machine{index}")
        (whole.path / "run/trainshed/unfit").mkdir(parents=True)
        script = LOSES_A_CARD.format(rank=rank)
        job.start(index, "sh", "-c", script, machine=whole, environment=IMAGE)

    assert job.started[0].wait() == PEER_LOST
    assert job.started[rank].wait() == PEER_LOST
    assert marks(tmp_path) == [f"machine{rank}"]


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_pod_stays_until_its_marked_node_is_off_and_no_other_does(
    tmp_path: Path, nodes: int
) -> None:
    with nodes_of_a_job(tmp_path, nodes, pods=True) as job:
        environment = IMAGE | {"EMBEDDED_AWS_NAMES": "/run/names"}
        for index in range(nodes):
            last = index == nodes - 1
            node = machine(tmp_path / f"machine{index}", efa=3 if last else 4)
            (node.path / "run/trainshed/unfit").mkdir(parents=True)
            node.write("run/names", f"{job.prefix}10 train-0.train\n{job.prefix}11 train-1.train\n")
            job.start(index, "true", wait=WAIT, machine=node, environment=environment)

        *others, unfit = job.started.values()
        unfit.wait_until("its pod stays until then")
        # Kubernetes ends what is left of the job.
        unfit.process.terminate()
        for other in others:
            assert other.wait() == PEER_LOST
            assert "its pod stays" not in other.said
        assert unfit.process.poll() is None
        assert unfit.wait() == PEER_LOST


def test_a_job_that_fails_by_itself_marks_no_node(tmp_path: Path) -> None:
    whole = machine(tmp_path / "whole")
    (whole.path / "run/trainshed/unfit").mkdir(parents=True)
    problem = {"TRAINSHED_PROBLEM": "no GPU in this container"}
    for number, environment in enumerate((IMAGE, IMAGE | problem)):
        with nodes_of_a_job(tmp_path, 1) as job:
            launcher = job.start(0, "false", machine=whole, environment=environment)

            assert launcher.wait() == (1, 78)[number]
    assert marks(tmp_path) == []


def test_an_image_without_the_tool_that_asks_its_devices_marks_no_node(tmp_path: Path) -> None:
    # For instance with NVIDIA_DRIVER_CAPABILITIES=compute, which leaves out nvidia-smi.
    whole = machine(tmp_path / "whole")
    (whole.path / "run/trainshed/unfit").mkdir(parents=True)
    (whole.path / "opt/amazon/efa/bin/fi_info").unlink()

    with nodes_of_a_job(tmp_path, 1) as job:
        launcher = job.start(0, "true", machine=whole, environment=IMAGE)

        assert launcher.wait() == 78
    missing = "efa devices do not answer (there is no /opt/amazon/efa/bin/fi_info); install it"
    assert f"this node takes no part: {missing}" in launcher.said
    assert marks(tmp_path) == []


def test_a_mark_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    broken = machine(tmp_path / "broken", efa=3)
    (broken.path / "run/trainshed/unfit").mkdir(parents=True)
    read_only = broken.devices + 'mount --bind "$1/run" "$1/run"; mount -o remount,ro,bind "$1/run"'
    broken = NodeRoot(path=broken.path, devices=read_only)

    with nodes_of_a_job(tmp_path, 1) as job:
        launcher = job.start(0, "true", machine=broken, environment=IMAGE)

        assert launcher.wait() == PEER_LOST
    assert "not marked unfit: /run/trainshed/unfit: Read-only file system" in launcher.said


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
def test_where_nothing_is_expected_nothing_is_reported(
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
