"""Self-test: every accelerator and EFA device on the PCI bus has its driver, and answers.

A device node is made by the driver, so a missing node alone says nothing: the bus is counted, and
what the driver made of it is compared with that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainshed_node.pci import ACCELERATORS, EFA, Card, count
from trainshed_node.recipe import Recipe
from trainshed_node.results import BAKE, FAILED, OK, Result, fact, unchecked
from trainshed_node.system import has_command, run

_INFINIBAND = "sys/class/infiniband/*"


@dataclass(frozen=True)
class Devices:
    """Devices of one kind.

    Attributes:
        name: for people.
        cards: what they are on the bus.
        nodes: globs of what the driver makes, one for each device; one glob or another matches.
        command: asks the driver.
    """

    name: str
    cards: tuple[Card, ...]
    nodes: tuple[str, ...]
    command: tuple[str, ...]


_EFA = Devices(
    name="efa device",
    cards=(EFA,),
    nodes=(_INFINIBAND,),
    command=("/opt/amazon/efa/bin/fi_info", "-p", "efa", "-t", "FI_EP_RDM"),
)
_NODES = {
    # The second name is that of old drivers; each card has a control node besides.
    "habana": (("dev/accel/accel[0-9]*", "dev/hl[0-9]*"), ("hl-smi",)),
    "neuron": (("dev/neuron[0-9]*",), ("/opt/aws/neuron/bin/neuron-ls",)),
    "nvidia": (("dev/nvidia[0-9]*",), ("nvidia-smi", "-L")),
}


def check_devices(recipe: Recipe, stage: str) -> Iterator[Result]:
    """Yield results for EFA and the accelerator; `version` is how many devices were found."""
    yield _check(_EFA, stage)
    yield _efa_comes_first()
    nodes, command = _NODES[recipe.accelerator]
    name = f"{recipe.accelerator} device"
    yield _check(Devices(name, ACCELERATORS[recipe.accelerator], nodes, command), stage)


def _efa_comes_first() -> Result:
    """AWS Batch names verbs devices by number, so the first ones must be EFA's."""
    name = "efa devices first"
    devices = sorted(
        Path("/sys/class/infiniband_verbs").glob("uverbs[0-9]*"),
        key=lambda device: int(device.name.removeprefix("uverbs")),
    )
    are_efa = [EFA.fits(device / "device") for device in devices]
    efa = sum(are_efa)
    if not efa:
        return unchecked(name, "this machine has none")
    others = [device.name for device, is_efa in zip(devices[:efa], are_efa) if not is_efa]
    return fact(name, not others, detail=f"{', '.join(others)} before them")


def _check(devices: Devices, stage: str) -> Result:
    tool = devices.command[0]
    if not has_command(tool):
        return fact(devices.name, False, detail=f"there is no {tool}")
    expected = count(devices.cards)
    if not expected:
        return unchecked(devices.name, "this machine has none on its PCI bus")
    if stage == BAKE:
        return unchecked(devices.name, f"{expected} on the PCI bus; drivers load at the next boot")
    # First, because NVIDIA's tool makes the device nodes that it misses.
    done = run(*devices.command, timeout=120)
    found = max(
        sum(_is_one(devices, path) for path in Path("/").glob(pattern)) for pattern in devices.nodes
    )
    problems = []
    if found != expected:
        problems.append(f"{expected} on the PCI bus, and the driver made {found}; see dmesg")
    if not done.ok:
        problems.append(f"{tool}: {done.last_line}")
    state = FAILED if problems else OK
    return Result(devices.name, str(found), str(expected), state, "; ".join(problems))


def _is_one(devices: Devices, node: Path) -> bool:
    """Other makers' network cards are verbs devices, too: those of P6's NVLink bridges."""
    if devices is not _EFA:
        return True
    return any(card.fits(node / "device") for card in devices.cards)
