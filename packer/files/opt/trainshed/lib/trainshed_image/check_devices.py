"""Self-test: the devices of the machine, where it has any, answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainshed_image.pins import Cell
from trainshed_image.results import Result, fact, unchecked
from trainshed_image.system import has_command, run

_EFA = ("/opt/amazon/efa/bin/fi_info", "-p", "efa", "-t", "FI_EP_RDM")
_AMAZON = "0x1d0f"
_DEVICES = {
    "habana": (("dev/accel/accel*", "dev/hl[0-9]*"), ("hl-smi",)),
    "neuron": (("dev/neuron*",), ("/opt/aws/neuron/bin/neuron-ls",)),
    "nvidia": (("dev/nvidia[0-9]*",), ("nvidia-smi", "-L")),
}


def check_devices(cell: Cell) -> Iterator[Result]:
    """Yield results for EFA and the accelerator."""
    yield _answers("efa device", ("sys/class/infiniband/*",), _EFA)
    yield _efa_comes_first()
    patterns, command = _DEVICES[cell.accelerator]
    yield _answers(f"{cell.accelerator} device", patterns, command)


def _efa_comes_first() -> Result:
    """AWS Batch names verbs devices by number, so the first ones have to be EFA's."""
    devices = sorted(
        Path("/sys/class/infiniband_verbs").glob("uverbs[0-9]*"),
        key=lambda device: int(device.name.removeprefix("uverbs")),
    )
    vendors = [(path / "device/vendor").read_text(encoding="ascii").strip() for path in devices]
    efa = vendors.count(_AMAZON)
    if not efa:
        return unchecked("efa devices first", "this machine has none")
    others = [
        f"{device.name} is of vendor {vendor}"
        for device, vendor in list(zip(devices, vendors, strict=True))[:efa]
        if vendor != _AMAZON
    ]
    return fact("efa devices first", not others, detail="; ".join(others) or f"{efa} there")


def _answers(name: str, patterns: tuple[str, ...], command: tuple[str, ...]) -> Result:
    if not has_command(command[0]):
        return fact(name, False, detail=f"there is no {command[0]}")
    devices = [path for pattern in patterns for path in Path("/").glob(pattern)]
    if not devices:
        return unchecked(name, f"this machine has none, so {command[0]} was not asked")
    done = run(*command, timeout=120)
    return fact(name, done.ok, detail=f"{len(devices)} there; {command[0]}: {done.last_line}")
