"""A node of a cluster, whose accelerators and EFA devices are files.

Its root has a PCI bus, device files and counters that are folders. The vendors' tools are stand-ins
that print what those print, and the AWS CLI one that records what it is asked.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from node_root import HOME, NodeRoot

INSTANCE = "i-0123456789abcdef0"
EFA = {"vendor": "0x1d0f", "device": "0xefa1"}
FI_INFO = "opt/amazon/efa/bin/fi_info"
_HUGE_PAGES = 15000
_DEVICES = """
for each in null zero random urandom; do
  touch "$1/dev/$each"; mount --bind "/dev/$each" "$1/dev/$each"
done
mount --bind "$1/huge-pages" "$1/proc/sys/vm/nr_hugepages"
"""
SYSTEMCTL = 'case "$*" in *MEMLOCK*) cat /memlock ;; esac'


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


class ClusterNode(NodeRoot):
    """A node of a cluster, with an accelerator and EFA."""

    @classmethod
    def bare(cls, folder: Path) -> Self:
        """Make one of no type yet, whose settings are in order."""
        made = cls.make(folder, devices=_DEVICES)
        for path in (made.path / "etc/sysctl.d").iterdir():
            path.unlink()
        made.write("etc/sysctl.d/60-trainshed.conf", "kernel.ostype = Linux\n")
        made.write("huge-pages", f"{_HUGE_PAGES}\n")
        made.write("memlock", "infinity\n")
        made.write("var/lib/cloud/data/instance-id", f"{INSTANCE}\n")
        made.command("systemctl", SYSTEMCTL)
        made.command("udevadm", "")
        made.command("aws", 'printf "%s\\037" "$@" >>/run/calls; echo >>/run/calls')
        return made

    @classmethod
    def healthy(cls, folder: Path) -> Self:
        """Make a trn1.32xlarge."""
        made = cls.bare(folder)
        made.equip("neuron", 16, efa=8)
        return made

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

    def joins(self, kubernetes: str) -> None:
        """Write that it joins a cluster of EKS, of this minor version."""
        path = self.path / "etc/trainshed/first-boot.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"kubernetes": kubernetes}))

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
