"""The devices of a node: where each kind shows, and what makes it answer.

The first boot and trainshed-launch compare them with what the node's plan counts on, the self-test
with what is on the PCI bus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainshed_node.pci import ACCELERATORS, EFA, Card, count
from trainshed_node.system import has_command, run

_VERBS = Path("/sys/class/infiniband_verbs")
# GPUs whose driver no daemon keeps loaded take a minute.
_ANSWER_SECONDS = 120
# In an answer without a list, even of a tool that ends with 0, as nvidia-smi: "No devices found."
_NONE = re.compile(r"\bno\b.*\bdevices?\b", re.IGNORECASE)


@dataclass(frozen=True)
class Devices:
    """Devices of one kind.

    Attributes:
        cards: what they are on the PCI bus.
        files: globs of their device files, one file for each; one glob or another matches.
        command: asks each of them, by its driver.
        answer: what the command prints of each, with its name.
    """

    cards: tuple[Card, ...]
    files: tuple[str, ...]
    command: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Found:
    """What was found of one kind.

    Attributes:
        on_bus: how many are on the PCI bus.
        files: how many device files the driver has made.
        problem: why not all of the files' devices answer; empty if they do.
        has_tool: there is what asks them.
    """

    on_bus: int
    files: int
    problem: str
    has_tool: bool = True


@dataclass(frozen=True)
class Problem:
    """What is wrong with the devices of a node.

    Attributes:
        text: what it is.
        of_node: the node is to blame, and not the software that asks.
    """

    text: str
    of_node: bool = True


# EFA: the state of a port in /sys says nothing, because the driver always answers "active" without
# asking the device (efa_query_port of amzn-drivers). libfabric opens each device, and lists it once
# for each of its fabrics.
# Neuron: the table, because the JSON form is about to change (Neuron's announcement for 2.34).
DEVICES = {
    "efa": Devices(
        cards=(EFA,),
        files=("dev/infiniband/uverbs[0-9]*",),
        command=("/opt/amazon/efa/bin/fi_info", "-p", "efa", "-t", "FI_EP_RDM"),
        answer=r"^\s*domain: (\S+)-rdm$",
    ),
    "habana": Devices(
        cards=ACCELERATORS["habana"],
        # The second name is that of old drivers; each card has a control node besides.
        files=("dev/accel/accel[0-9]*", "dev/hl[0-9]*"),
        command=("hl-smi", "-Q", "index", "-f", "csv,noheader"),
        answer=r"^\s*(\d+)\s*$",
    ),
    "neuron": Devices(
        cards=ACCELERATORS["neuron"],
        files=("dev/neuron[0-9]*",),
        command=("/opt/aws/neuron/bin/neuron-ls",),
        answer=r"^\|\s*(\d+)\s*\|",
    ),
    "nvidia": Devices(
        cards=ACCELERATORS["nvidia"],
        files=("dev/nvidia[0-9]*",),
        command=("nvidia-smi", "-L"),
        answer=r"^GPU (\d+):",
    ),
}


def wait_for_drivers() -> None:
    """Wait until the drivers of all cards were loaded, a moment ago perhaps."""
    run("udevadm", "settle", "--timeout=60", timeout=70)


def verbs_devices() -> list[tuple[str, bool]]:
    """Return the verbs devices in the order of their numbers, and whether each is EFA.

    Other makers' network cards are verbs devices, too: those of P6's NVLink bridges.
    """
    names = sorted(
        (entry.name for entry in _VERBS.glob("uverbs[0-9]*")),
        key=lambda name: int(name.removeprefix("uverbs")),
    )
    return [(name, EFA.fits(_VERBS / name / "device")) for name in names]


def find(kind: str) -> Found:
    """Look for the devices of a kind, and ask them."""
    devices = DEVICES[kind]
    on_bus = count(devices.cards)
    tool = devices.command[0]
    if not has_command(tool):
        return Found(on_bus, _files(kind), f"there is no {tool}", has_tool=False)
    # First, because NVIDIA's tool makes the device files that it misses.
    done = run(*devices.command, timeout=_ANSWER_SECONDS)
    files = _files(kind)
    if not done.ok:
        return Found(on_bus, files, f"{tool}: {done.last_line}")
    answering = len(set(re.findall(devices.answer, done.output, re.MULTILINE)))
    if not answering and _NONE.search(done.output):
        return Found(on_bus, files, f"{tool}: {done.last_line}")
    # A list in words that we do not know says nothing.
    if 0 < answering < files:
        return Found(on_bus, files, f"{tool} lists {answering} of {files}")
    return Found(on_bus, files, "")


def device_problems(expected: Mapping[str, int]) -> Iterator[Problem]:
    """Yield what is wrong with the devices of this node, or of this container.

    Args:
        expected: how many devices of each kind there must be.
    """
    for kind, wanted in expected.items():
        found = find(kind)
        if found.on_bus < wanted:
            yield Problem(f"{found.on_bus} of {wanted} {kind} devices are on the PCI bus")
        elif found.files < wanted:
            yield Problem(f"{found.files} of {wanted} {kind} devices have a driver (see dmesg)")
        elif found.problem:
            text = f"{kind} devices do not answer ({found.problem})"
            yield Problem(text, of_node=found.has_tool)


def _files(kind: str) -> int:
    efa = {name for name, is_efa in verbs_devices() if is_efa}
    return max(
        sum(kind != "efa" or path.name in efa for path in Path("/").glob(pattern))
        for pattern in DEVICES[kind].files
    )
