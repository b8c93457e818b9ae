"""A half-broken node says what is wrong, tells AWS, and takes no job.

The real first boot runs, on a node of files. What systemd does with a first boot that fails is
shown in guests.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from cluster_node import ACCELERATORS, EFA, FI_INFO, INSTANCE, SYSTEMCTL, Boot, ClusterNode, fi_info
from node_root import FILES, HOME, needs_namespaces

pytestmark = needs_namespaces

ADVICE = (
    "terminate this node, and if the next one says the same, correct its AMI or its launch template"
)
BRIDGE = {"vendor": "0x15b3", "device": "0x1021"}
# Runs a command that outlives its end, by the function that all programs of a node use.
RUN = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from trainshed_node.system import run
subprocess.Popen.kill = lambda process: None
print(run("sleep", "8", timeout=0.2).last_line)
"""


@pytest.fixture
def bare(tmp_path: Path) -> ClusterNode:
    return ClusterNode.bare(tmp_path)


@pytest.fixture
def machine(tmp_path: Path) -> ClusterNode:
    return ClusterNode.healthy(tmp_path)


def refused(boot: Boot, problems: str) -> None:
    """Assert that the node says so once, tells AWS, and does not succeed."""
    assert boot.error == f"trainshed: ERROR: {INSTANCE}: takes no job: {problems}; {ADVICE}"
    assert boot.code == 1
    assert boot.tag is not None
    assert boot.tag.startswith(f"failed: {INSTANCE}: takes no job: ")
    assert boot.metrics == [
        {
            "MetricName": "BootsFailed",
            "Dimensions": [{"Name": "Cluster", "Value": "Train"}],
            "Value": 1,
            "Unit": "Count",
        }
    ]
    assert boot.state["outcome"].startswith("failed: ")


@pytest.mark.parametrize("kind", ACCELERATORS)
def test_a_node_with_all_its_devices_takes_jobs_and_says_so(bare: ClusterNode, kind: str) -> None:
    bare.equip(kind, 8, efa=4)

    boot = bare.boot()

    assert boot.code == 0, boot.error
    assert (boot.tag, boot.metrics, boot.error) == ("ok", [], "")
    assert boot.state["outcome"] == "ok"


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("kubelet", "Kubernetes v1.35.4-eks-40737a8"),
        ("snap", "Name         Version  Rev\nkubelet-eks  1.35.4   123"),
    ],
)
def test_a_node_with_the_kubelet_of_its_cluster_takes_pods(
    machine: ClusterNode, command: str, printed: str
) -> None:
    machine.joins("1.35")
    machine.tool(f"usr/local/bin/{command}", printed)

    boot = machine.boot()

    assert (boot.code, boot.error, boot.tag) == (0, "", "ok")


def test_a_kubelet_of_another_minor_version_is_refused(machine: ClusterNode) -> None:
    machine.joins("1.35")
    machine.tool("usr/local/bin/kubelet", "Kubernetes v1.34.9-eks-40737a8")

    refused(
        machine.boot(),
        "kubelet: is of Kubernetes 1.34.9, and the cluster's is 1.35: take an AMI of eks-1.35",
    )


def test_a_node_of_kubernetes_without_a_kubelet_is_refused(machine: ClusterNode) -> None:
    machine.joins("1.35")

    refused(machine.boot(), "kubelet: does not say its version: there is no command kubelet")


def test_one_efa_device_less_on_the_bus_is_refused(machine: ClusterNode) -> None:
    machine.unplug(EFA, 7)

    boot = machine.boot()

    refused(boot, "7 of 8 efa devices are on the PCI bus")
    # Nothing else is set up on a node that takes no job.
    assert not any("/scratch" in line for line in boot.lines)


def test_an_efa_device_without_a_driver_is_refused(machine: ClusterNode) -> None:
    (machine.path / "dev/infiniband/uverbs7").unlink()

    refused(machine.boot(), "7 of 8 efa devices have a driver (see dmesg)")


def test_the_bridges_of_p6_are_not_taken_for_efa_devices(machine: ClusterNode) -> None:
    machine.plug(2, **BRIDGE)
    (machine.path / "dev/infiniband/uverbs7").unlink()
    machine.verbs(2, vendor=BRIDGE["vendor"], device=BRIDGE["device"], first=8)

    refused(machine.boot(), "7 of 8 efa devices have a driver (see dmesg)")


def test_a_node_that_was_launched_with_fewer_interfaces_needs_no_more(machine: ClusterNode) -> None:
    machine.expect(efa=4, neuron=16)

    assert machine.boot().code == 0


@pytest.mark.parametrize("kind", ACCELERATORS)
@pytest.mark.parametrize("where", ["bus", "driver"])
def test_one_accelerator_less_is_refused(bare: ClusterNode, kind: str, where: str) -> None:
    bare.equip(kind, 8, efa=8)
    if where == "bus":
        bare.unplug(ACCELERATORS[kind].card, 3)
    else:
        (bare.path / ACCELERATORS[kind].file.format(3)).unlink()

    boot = bare.boot()

    missing = {"bus": "are on the PCI bus", "driver": "have a driver (see dmesg)"}[where]
    refused(boot, f"7 of 8 {kind} devices {missing}")


@pytest.mark.parametrize("kind", ACCELERATORS)
def test_an_accelerator_that_its_tool_does_not_list_is_refused(
    bare: ClusterNode, kind: str
) -> None:
    bare.equip(kind, 8, efa=8)
    accelerator = ACCELERATORS[kind]
    bare.tool(accelerator.tool, accelerator.answer(7))

    error = bare.boot().error

    assert f"{kind} devices do not answer (" in error
    assert f"{accelerator.tool.rpartition('/')[2]} lists 7 of 8);" in error


def test_an_efa_device_that_libfabric_does_not_list_is_refused(machine: ClusterNode) -> None:
    machine.tool(FI_INFO, fi_info(7))

    refused(machine.boot(), f"efa devices do not answer (/{FI_INFO} lists 7 of 8)")


def test_a_list_in_unknown_words_is_not_held_against_the_node(machine: ClusterNode) -> None:
    machine.tool(ACCELERATORS["neuron"].tool, "Neuron devices: sixteen")

    assert machine.boot().code == 0


@pytest.mark.parametrize("kind", ACCELERATORS)
def test_a_tool_that_ends_well_and_finds_no_device_is_refused(bare: ClusterNode, kind: str) -> None:
    bare.equip(kind, 8, efa=8)
    tool = ACCELERATORS[kind].tool
    # As nvidia-smi does, and ends with 0.
    bare.tool(tool, "No devices found.")

    error = bare.boot().error

    assert f"{kind} devices do not answer (" in error
    assert f"{tool.rpartition('/')[2]}: No devices found.);" in error


NVSWITCH = {"vendor": "0x10de", "device": "0x22a3", "kind": "0x068000"}
COMPLETED, IN_PROGRESS = ("Completed", "Success"), ("In Progress", "N/A")
# nvidia-smi's words when the fabric manager could not set the fabric up.
FAILED = ("Completed", "Insufficient Resources")


def gpus(machine: ClusterNode, *fabrics: tuple[str, str], manager: str = "active") -> None:
    """Give a node GPUs with NVSwitches between them.

    The report of nvidia-smi is as NVIDIA's Fabric Manager user guide and users show it.
    """
    machine.equip("nvidia", len(fabrics), efa=4)
    machine.plug(4, **NVSWITCH)
    machine.command("systemctl", f"{SYSTEMCTL}\n[ $1 != is-active ] || echo {manager}")
    report = "".join(
        f"GPU 0000000{number}:00:00.0\n    GPU Fabric GUID                    : 0x7215545ecf79\n"
        f"    Fabric\n        State                          : {state}\n"
        f"        Status                         : {status}\n    Processes  : None\n"
        for number, (state, status) in enumerate(fabrics)
    )
    listed = ACCELERATORS["nvidia"].answer(len(fabrics))
    machine.write("report", report)
    machine.write("list", listed + "\n")
    machine.command("nvidia-smi", "case $1 in -q) cat /report ;; -L) cat /list ;; esac")


@pytest.mark.parametrize(
    "fabric", [pytest.param(COMPLETED, id="H100"), pytest.param(("N/A", "N/A"), id="A100")]
)
def test_gpus_whose_fabric_is_up_take_jobs(bare: ClusterNode, fabric: tuple[str, str]) -> None:
    gpus(bare, fabric, fabric)

    boot = bare.boot()

    assert boot.code == 0, boot.error


@pytest.mark.parametrize(
    ("fabrics", "manager", "problem"),
    [
        pytest.param(
            (COMPLETED, IN_PROGRESS),
            "active",
            "1 of 2 GPUs are not in the NVLink fabric (state In Progress, status N/A",
            id="in-progress",
        ),
        pytest.param(
            (FAILED, FAILED),
            "active",
            "2 of 2 GPUs are not in the NVLink fabric (state Completed, status Insufficient "
            "Resources",
            id="refused",
        ),
        pytest.param(
            (("N/A", "N/A"),) * 2, "failed", "the fabric manager is failed (", id="dead-manager"
        ),
    ],
)
def test_gpus_whose_fabric_is_down_take_no_job(
    bare: ClusterNode, fabrics: tuple[tuple[str, str], ...], manager: str, problem: str
) -> None:
    gpus(bare, *fabrics, manager=manager)
    bare.hasten("fabric", "_WAIT_SECONDS", 0.1)

    error = bare.boot().error

    assert f"takes no job: {problem}" in error
    assert "see journalctl --unit nvidia-fabricmanager.service)" in error


def test_a_fabric_that_comes_up_later_is_waited_for(bare: ClusterNode) -> None:
    gpus(bare, COMPLETED)
    bare.hasten("fabric", "_PAUSE_SECONDS", 0.1)
    later = "[ -e /run/asked ] || { touch /run/asked; sed -i 's/Completed/In Progress/' /now; }"
    bare.command(
        "nvidia-smi", f"case $1 in -q) cp /report /now; {later}; cat /now ;; -L) cat /list ;; esac"
    )

    assert bare.boot().code == 0


def test_gpus_without_switches_need_no_fabric_manager(bare: ClusterNode) -> None:
    bare.equip("nvidia", 8, efa=4)
    bare.command("systemctl", f"{SYSTEMCTL}\n[ $1 != is-active ] || echo failed")

    assert bare.boot().code == 0


def test_a_device_whose_tool_fails_is_refused(bare: ClusterNode) -> None:
    lost = "GPU is lost. Reboot the system to recover this GPU"
    bare.equip("nvidia", 8, efa=8)
    bare.tool(ACCELERATORS["nvidia"].tool, lost, code=15)

    refused(bare.boot(), f"nvidia devices do not answer (nvidia-smi: {lost})")


def test_a_device_that_never_answers_does_not_hold_the_boot_for_ever(machine: ClusterNode) -> None:
    machine.hasten("devices", "_ANSWER_SECONDS", 0.3)
    machine.tool(FI_INFO, then="sleep 600")

    boot = machine.boot()

    refused(boot, f"efa devices do not answer (/{FI_INFO}: /{FI_INFO} took longer than 0 s)")


def test_a_tool_that_hangs_in_its_driver_and_cannot_be_killed_is_left_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, FILES / HOME / "lib"], capture_output=True, text=True, timeout=4
    )

    assert done.stdout == "sleep took longer than 0 s\n"


def test_an_ami_without_the_tool_is_refused(machine: ClusterNode) -> None:
    (machine.path / FI_INFO).unlink()

    refused(machine.boot(), f"efa devices do not answer (there is no /{FI_INFO})")


def test_too_few_huge_pages_are_refused(machine: ClusterNode) -> None:
    machine.write("huge-pages", "5127\n")

    refused(machine.boot(), "huge pages: 5127 of 5128: memory was taken before they were reserved")


def test_a_kernel_setting_of_another_value_is_refused(machine: ClusterNode) -> None:
    machine.write("etc/sysctl.d/60-trainshed.conf", "kernel.ostype = Hurd\n")

    refused(machine.boot(), "kernel.ostype: is Linux, not Hurd")


def test_locked_memory_with_a_limit_is_refused(machine: ClusterNode) -> None:
    machine.write("memlock", "8388608\n")

    refused(
        machine.boot(),
        "memlock of services: is 8388608, not unlimited; "
        "memlock of docker: is 8388608, not unlimited",
    )


def test_one_line_names_everything_that_is_wrong(machine: ClusterNode) -> None:
    machine.unplug(EFA, 0)
    (machine.path / "dev/neuron15").unlink()
    machine.write("huge-pages", "0\n")

    refused(
        machine.boot(),
        "15 of 16 neuron devices have a driver (see dmesg); "
        "7 of 8 efa devices are on the PCI bus; "
        "huge pages: 0 of 5128: memory was taken before they were reserved",
    )


def test_the_next_boot_checks_the_devices_again(machine: ClusterNode) -> None:
    good = machine.boot()
    (machine.path / "dev/neuron15").unlink()
    broken = machine.boot()
    machine.write("dev/neuron15")
    repaired = machine.boot()

    assert [boot.code for boot in (good, broken, repaired)] == [0, 1, 0]
    # The tag does not stay at a failure that is over.
    assert repaired.tag == "ok"
