"""A half-broken node says what is wrong, tells AWS, and takes no job.

The real first boot runs in a root of its own, whose PCI bus, device files and counters are folders.
The vendors' tools are stand-ins that print what those print, and the AWS CLI one that records what
it is asked. What systemd does with a first boot that fails is shown in guests.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from node_root import FILES, HOME, NodeRoot, needs_namespaces
from skips import needs

pytestmark = needs_namespaces

INSTANCE = "i-0123456789abcdef0"
ADVICE = (
    "terminate this node, and if the next one says the same, correct its AMI or its launch template"
)
EFA, BRIDGE = {"vendor": "0x1d0f", "device": "0xefa1"}, {"vendor": "0x15b3", "device": "0x1021"}
FI_INFO = "opt/amazon/efa/bin/fi_info"
HUGE_PAGES = 15000
DEVICES = """
for each in null zero random urandom; do
  touch "$1/dev/$each"; mount --bind "/dev/$each" "$1/dev/$each"
done
mount --bind "$1/huge-pages" "$1/proc/sys/vm/nr_hugepages"
"""
SYSTEMCTL = 'case "$*" in *MEMLOCK*) cat /memlock ;; esac'
# As the AWS CLI answers; version 2 ends with 254 when a service refuses.
DENIED = (
    "An error occurred (UnauthorizedOperation) when calling the CreateTags operation: "
    "You are not authorized to perform this operation."
)


# Runs a command that outlives its end, by the function that all programs of a node use.
RUN = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from trainshed_node.system import run
subprocess.Popen.kill = lambda process: None
print(run("sleep", "8", timeout=0.2).last_line)
"""


@dataclass(frozen=True)
class Accelerator:
    """What one maker's devices look like.

    Attributes:
        card: on the PCI bus.
        file: device file of a number.
        tool: where the maker's tool is.
        answer: what it prints, for a number of devices.
    """

    card: dict[str, str]
    file: str
    tool: str
    answer: Callable[[int], str]


def neuron_ls(count: int) -> str:
    rule = "+--------+--------+--------+---------------+---------+"
    head = "| NEURON | NEURON | NEURON |   CONNECTED   |   PCI   |\n"
    head += "| DEVICE | CORES  | MEMORY |    DEVICES    |   BDF   |"
    rows = (
        f"| {number:<6} | 2      | 32 GB  | 12, 3, 4, 1   | 10:1c.0 |" for number in range(count)
    )
    return "\n".join(("instance-type: trn1.32xlarge", rule, head, rule, *rows, rule))


ACCELERATORS = {
    "habana": Accelerator(
        card={"vendor": "0x1da3", "device": "0x1000"},
        file="dev/accel/accel{}",
        tool="usr/local/bin/hl-smi",
        answer=lambda count: "\n".join(map(str, range(count))),
    ),
    "neuron": Accelerator(
        card={"vendor": "0x1d0f", "device": "0x7164"},
        file="dev/neuron{}",
        tool="opt/aws/neuron/bin/neuron-ls",
        answer=neuron_ls,
    ),
    "nvidia": Accelerator(
        card={"vendor": "0x10de", "device": "0x20b0", "kind": "0x030200"},
        file="dev/nvidia{}",
        tool="usr/local/bin/nvidia-smi",
        answer=lambda count: "\n".join(
            f"GPU {number}: NVIDIA A100-SXM4-40GB (UUID: GPU-{number})" for number in range(count)
        ),
    ),
}


def fi_info(count: int) -> str:
    """What libfabric 2 prints: each device has two fabrics."""
    return "\n".join(
        f"provider: efa\n    fabric: {fabric}\n    domain: rdmap{number}s0-rdm\n"
        "    version: 201.0\n    type: FI_EP_RDM\n    protocol: FI_PROTO_EFA"
        for fabric in ("efa-direct", "efa")
        for number in range(count)
    )


@dataclass(frozen=True)
class Boot:
    """One boot.

    Attributes:
        code: exit code of the program; systemd starts what runs jobs if it is 0.
        lines: what it said.
        error: what it said went wrong.
        tag: value that it gave the tag, if it did.
        metrics: what it sent to CloudWatch.
        calls: of the AWS CLI.
        state: /run/trainshed/boot.json.
    """

    code: int
    lines: list[str]
    error: str
    tag: str | None
    metrics: list[dict[str, Any]]
    calls: list[list[str]]
    state: dict[str, Any]


class Machine(NodeRoot):
    """A node of a cluster, with an accelerator and EFA."""

    def tool(self, place: str, printed: str = "", code: int = 0, then: str = "") -> None:
        """Put a stand-in of a program where the real one is."""
        script = f"cat <<'EOF'\n{printed}\nEOF\n{then}\nexit {code}"
        if place.startswith("usr/local/bin/"):
            self.command(place.rpartition("/")[2], script)
        else:
            self.write(place, f"#!/bin/sh\n{script}\n").chmod(0o755)

    def equip(self, kind: str, count: int, efa: int) -> None:
        """Give it devices that work, and a plan that counts on them."""
        accelerator = ACCELERATORS[kind]
        self.pin(recipe={"accelerator": kind})
        self.plug(count, **accelerator.card)
        for number in range(count):
            self.write(accelerator.file.format(number))
        self.tool(accelerator.tool, accelerator.answer(count))
        self.plug(efa, **EFA)
        self.verbs(efa, vendor=EFA["vendor"], device=EFA["device"])
        self.tool(FI_INFO, fi_info(efa))
        self.expect(**{kind: count, "efa": efa})

    def expect(self, **devices: int) -> None:
        """Write what user data of a cluster writes."""
        document = {"region": "us-west-2", "cluster": "Train", "devices": devices}
        self.write("etc/trainshed/first-boot.json", json.dumps(document))

    def unplug(self, card: dict[str, str], number: int) -> None:
        """Take one card off the PCI bus."""
        name = f"0000:{card['vendor'][2:]}:{card['device'][2:]}"
        [folder] = (self.path / "sys/bus/pci/devices").glob(f"{name}.*.{number}")
        folder.rename(self.path / "tmp" / folder.name)

    def hasten(self, module: str, setting: str, seconds: float) -> None:
        """Give a program less patience."""
        path = self.path / HOME / f"lib/trainshed_node/{module}.py"
        changed = path.read_text().replace(f"{setting} =", f"{setting} = {seconds} or", 1)
        assert changed != path.read_text()
        path.write_text(changed)

    def boot(self, command: str = "/opt/trainshed/first-boot") -> Boot:
        (self.path / "run/calls").unlink(missing_ok=True)
        done = self.shell(command)
        calls = self.path / "run/calls"
        rows = calls.read_text().splitlines() if calls.exists() else []
        asked = [row.rstrip("\x1f").split("\x1f") for row in rows]
        tags = [json.loads(call[-1])[0] for call in asked if call[1] == "create-tags"]
        metrics = [json.loads(call[-1]) for call in asked if call[1] == "put-metric-data"]
        assert {tag["Key"] for tag in tags} <= {"trainshed:boot"}
        return Boot(
            code=done.returncode,
            lines=done.stdout.splitlines(),
            error=done.stderr.strip(),
            tag=tags[-1]["Value"] if tags else None,
            metrics=[metric for each in metrics for metric in each],
            calls=asked,
            state=json.loads((self.path / "run/trainshed/boot.json").read_text()),
        )


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    """A node of no type yet, whose settings are in order."""
    made = Machine.make(tmp_path, devices=DEVICES)
    for path in (made.path / "etc/sysctl.d").iterdir():
        path.unlink()
    made.write("etc/sysctl.d/60-trainshed.conf", "kernel.ostype = Linux\n")
    made.write("huge-pages", f"{HUGE_PAGES}\n")
    made.write("memlock", "infinity\n")
    made.write("var/lib/cloud/data/instance-id", f"{INSTANCE}\n")
    made.command("systemctl", SYSTEMCTL)
    made.command("udevadm", "")
    made.command("aws", 'printf "%s\\037" "$@" >>/run/calls; echo >>/run/calls')
    return made


@pytest.fixture
def machine(bare: Machine) -> Machine:
    """A healthy trn1.32xlarge."""
    bare.equip("neuron", 16, efa=8)
    return bare


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
def test_a_node_with_all_its_devices_takes_jobs_and_says_so(bare: Machine, kind: str) -> None:
    bare.equip(kind, 8, efa=4)

    boot = bare.boot()

    assert boot.code == 0, boot.error
    assert (boot.tag, boot.metrics, boot.error) == ("ok", [], "")
    assert boot.state["outcome"] == "ok"


def test_one_efa_device_less_on_the_bus_is_refused(machine: Machine) -> None:
    machine.unplug(EFA, 7)

    boot = machine.boot()

    refused(boot, "7 of 8 efa devices are on the PCI bus")
    # Nothing else is set up on a node that takes no job.
    assert not any("/scratch" in line for line in boot.lines)


def test_an_efa_device_without_a_driver_is_refused(machine: Machine) -> None:
    (machine.path / "dev/infiniband/uverbs7").unlink()

    refused(machine.boot(), "7 of 8 efa devices have a driver (see dmesg)")


def test_the_bridges_of_p6_are_not_taken_for_efa_devices(machine: Machine) -> None:
    machine.plug(2, **BRIDGE)
    (machine.path / "dev/infiniband/uverbs7").unlink()
    machine.verbs(2, vendor=BRIDGE["vendor"], device=BRIDGE["device"], first=8)

    refused(machine.boot(), "7 of 8 efa devices have a driver (see dmesg)")


def test_a_node_that_was_launched_with_fewer_interfaces_needs_no_more(machine: Machine) -> None:
    machine.expect(efa=4, neuron=16)

    assert machine.boot().code == 0


@pytest.mark.parametrize("kind", ACCELERATORS)
@pytest.mark.parametrize("where", ["bus", "driver"])
def test_one_accelerator_less_is_refused(bare: Machine, kind: str, where: str) -> None:
    bare.equip(kind, 8, efa=8)
    if where == "bus":
        bare.unplug(ACCELERATORS[kind].card, 3)
    else:
        (bare.path / ACCELERATORS[kind].file.format(3)).unlink()

    boot = bare.boot()

    missing = {"bus": "are on the PCI bus", "driver": "have a driver (see dmesg)"}[where]
    refused(boot, f"7 of 8 {kind} devices {missing}")


@pytest.mark.parametrize("kind", ACCELERATORS)
def test_an_accelerator_that_its_tool_does_not_list_is_refused(bare: Machine, kind: str) -> None:
    bare.equip(kind, 8, efa=8)
    accelerator = ACCELERATORS[kind]
    bare.tool(accelerator.tool, accelerator.answer(7))

    error = bare.boot().error

    assert f"{kind} devices do not answer (" in error
    assert f"{accelerator.tool.rpartition('/')[2]} lists 7 of 8);" in error


def test_an_efa_device_that_libfabric_does_not_list_is_refused(machine: Machine) -> None:
    machine.tool(FI_INFO, fi_info(7))

    refused(machine.boot(), f"efa devices do not answer (/{FI_INFO} lists 7 of 8)")


def test_a_list_in_unknown_words_is_not_held_against_the_node(machine: Machine) -> None:
    machine.tool(ACCELERATORS["neuron"].tool, "Neuron devices: sixteen")

    assert machine.boot().code == 0


def test_a_device_whose_tool_fails_is_refused(bare: Machine) -> None:
    lost = "GPU is lost. Reboot the system to recover this GPU"
    bare.equip("nvidia", 8, efa=8)
    bare.tool(ACCELERATORS["nvidia"].tool, lost, code=15)

    refused(bare.boot(), f"nvidia devices do not answer (nvidia-smi: {lost})")


def test_a_device_that_never_answers_does_not_hold_the_boot_for_ever(machine: Machine) -> None:
    machine.hasten("devices", "_ANSWER_SECONDS", 0.3)
    machine.tool(FI_INFO, then="sleep 600")

    boot = machine.boot()

    refused(boot, f"efa devices do not answer (/{FI_INFO}: /{FI_INFO} took longer than 0 s)")


def test_a_tool_that_hangs_in_its_driver_and_cannot_be_killed_is_left_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, FILES / HOME / "lib"], capture_output=True, text=True, timeout=4
    )

    assert done.stdout == "sleep took longer than 0 s\n"


def test_an_ami_without_the_tool_is_refused(machine: Machine) -> None:
    (machine.path / FI_INFO).unlink()

    refused(machine.boot(), f"efa devices do not answer (there is no /{FI_INFO})")


def test_too_few_huge_pages_are_refused(machine: Machine) -> None:
    machine.write("huge-pages", "5127\n")

    refused(machine.boot(), "huge pages: 5127 of 5128: memory was taken before they were reserved")


def test_a_kernel_setting_of_another_value_is_refused(machine: Machine) -> None:
    machine.write("etc/sysctl.d/60-trainshed.conf", "kernel.ostype = Hurd\n")

    refused(machine.boot(), "kernel.ostype: is Linux, not Hurd")


def test_locked_memory_with_a_limit_is_refused(machine: Machine) -> None:
    machine.write("memlock", "8388608\n")

    refused(
        machine.boot(),
        "memlock of services: is 8388608, not unlimited; "
        "memlock of docker: is 8388608, not unlimited",
    )


def test_one_line_names_everything_that_is_wrong(machine: Machine) -> None:
    machine.unplug(EFA, 0)
    (machine.path / "dev/neuron15").unlink()
    machine.write("huge-pages", "0\n")

    refused(
        machine.boot(),
        "15 of 16 neuron devices have a driver (see dmesg); "
        "7 of 8 efa devices are on the PCI bus; "
        "huge pages: 0 of 5128: memory was taken before they were reserved",
    )


def test_the_next_boot_checks_the_devices_again(machine: Machine) -> None:
    good = machine.boot()
    (machine.path / "dev/neuron15").unlink()
    broken = machine.boot()
    machine.write("dev/neuron15")
    repaired = machine.boot()

    assert [boot.code for boot in (good, broken, repaired)] == [0, 1, 0]
    # The tag does not stay at a failure that is over.
    assert repaired.tag == "ok"


# The signal.


def test_the_tag_has_only_what_all_services_take_and_no_more_than_ec2_does(
    machine: Machine,
) -> None:
    machine.unplug(EFA, 0)
    machine.tool(ACCELERATORS["neuron"].tool, "x" * 300 + "; [none]", code=1)

    tag = machine.boot().tag

    assert tag is not None
    assert tag.startswith(f"failed: {INSTANCE}: takes no job: neuron devices do not answer /opt/")
    assert len(tag) == 256
    assert not set(tag) & set("();,[]'")


def test_calls_name_the_instance_and_the_region_and_have_a_time_limit(machine: Machine) -> None:
    machine.unplug(EFA, 0)

    tags, metric = machine.boot().calls

    assert tags[:2] == ["ec2", "create-tags"]
    assert tags[tags.index("--resources") + 1] == INSTANCE
    assert metric[:2] == ["cloudwatch", "put-metric-data"]
    assert metric[metric.index("--namespace") + 1] == "trainshed"
    for call in (tags, metric):
        assert call[call.index("--region") + 1] == "us-west-2"
        assert {"--cli-connect-timeout", "--cli-read-timeout"} <= set(call)


def test_a_file_system_that_never_comes_is_signalled_too(machine: Machine) -> None:
    names = {"dns_name_parameter": "/dns", "mount_name_parameter": "/name"}
    lustre = {"mount": "/fsx", "wait_seconds": 0, **names}
    document = {"region": "us-west-2", "cluster": "Train", "lustre": lustre}
    machine.write("etc/trainshed/first-boot.json", json.dumps(document))
    machine.command("mount.lustre", "")

    boot = machine.boot()

    assert boot.code == 1
    assert boot.tag is not None
    assert boot.tag.startswith("failed: /fsx: not mounted after 0 s: SSM gave no answer")
    assert len(boot.metrics) == 1


@pytest.mark.parametrize(
    ("aws", "reason"),
    [
        pytest.param(f"echo '{DENIED}' >&2; exit 254", DENIED, id="denied"),
        pytest.param("sleep 600", "aws took longer than 0 s", id="no-answer"),
        pytest.param(None, "there is no command aws", id="no-cli"),
    ],
)
def test_a_signal_that_cannot_be_sent_neither_hides_the_reason_nor_holds_the_boot(
    machine: Machine, aws: str | None, reason: str
) -> None:
    machine.hasten("boot_signal", "_CALL_SECONDS", 0.3)
    path = "PATH=/usr/local/bin:/usr/sbin:/usr/bin"
    if aws is None:
        Path(f"{machine.path}.local", "bin/aws").unlink()
        # This machine may have one.
        path = "PATH=/usr/local/bin:/sbin"
        machine.command("udevadm", "")
    else:
        machine.command("aws", aws)
    machine.unplug(EFA, 0)

    boot = machine.boot(f"{path} /opt/trainshed/first-boot")

    assert boot.code == 1
    assert boot.error.startswith(f"trainshed: ERROR: {INSTANCE}: takes no job: 7 of 8 efa devices")
    for operation in ("ec2 create-tags", "cloudwatch put-metric-data"):
        warning = f"trainshed: WARNING: {operation} of the boot's signal failed ({reason})"
        assert warning in boot.lines


def test_the_reason_is_said_before_anything_that_may_take_time(machine: Machine) -> None:
    machine.command("aws", "exit 1")
    machine.unplug(EFA, 0)

    first, *_, last = machine.shell("/opt/trainshed/first-boot 2>&1").stdout.splitlines()

    assert first.startswith("trainshed: ERROR: ")
    assert last.startswith("trainshed: WARNING: cloudwatch ")


def test_a_success_that_cannot_be_signalled_is_a_success(machine: Machine) -> None:
    machine.command("aws", f"echo '{DENIED}' >&2; exit 254")

    boot = machine.boot()

    assert boot.code == 0
    assert "WARNING: ec2 create-tags" in boot.lines[-1]


def test_an_instance_of_no_cluster_is_not_signalled(machine: Machine) -> None:
    machine.write("etc/trainshed/first-boot.json", json.dumps({"devices": {"efa": 9}}))

    boot = machine.boot()

    assert boot.code == 1
    assert boot.calls == []


# What a boot takes.


def test_seconds_and_bytes_of_each_step_are_kept_and_said(machine: Machine) -> None:
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
def test_a_boot_downloads_nothing(machine: Machine) -> None:
    boot = machine.boot("unshare --net /opt/trainshed/first-boot")

    assert boot.code == 0, boot.error
    assert sum(step["received_bytes"] for step in boot.state["steps"]) == 0


def test_a_boot_that_failed_was_measured_too(machine: Machine) -> None:
    machine.unplug(EFA, 0)

    boot = machine.boot()

    assert [step["name"] for step in boot.state["steps"]] == ["system", "devices"]
    assert any(line.startswith("trainshed: boot failed: ") for line in boot.lines)
