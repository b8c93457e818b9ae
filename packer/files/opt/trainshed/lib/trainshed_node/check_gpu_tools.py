"""Self-test: DCGM knows every GPU, and GDRCopy's device is there for jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainshed_node.gdrcopy import DEVICE, device_is_good
from trainshed_node.pci import ACCELERATORS, count
from trainshed_node.recipe import Recipe
from trainshed_node.results import BAKE, FAILED, OK, Result, unchecked
from trainshed_node.system import run

_DCGM = "nvidia-dcgm.service"
_GDRCOPY = "trainshed-gdrcopy.service"
# As the drop-in of nvidia-dcgm.service has it.
_SOCKET = "unix:///run/nvidia-dcgm/nv-hostengine"


def check_gpu_tools(recipe: Recipe, stage: str) -> Iterator[Result]:
    """Yield a result for each that the AMI has; `version` of DCGM's is how many GPUs it knows."""
    gpus = count(ACCELERATORS["nvidia"])
    for component, name, unit in (
        ("nvidia-dcgm", "DCGM", _DCGM),
        ("gdrcopy", "GDRCopy", _GDRCOPY),
    ):
        if component not in recipe.components:
            continue
        if not run("systemctl", "is-enabled", unit).ok:
            yield Result(name, "", "", FAILED, f"{unit} is not enabled")
        elif not gpus:
            yield unchecked(name, "this machine has no GPU on its PCI bus")
        elif stage == BAKE:
            yield unchecked(name, f"{gpus} GPUs on the PCI bus; {unit} starts at the next boot")
        else:
            yield _dcgm(name, gpus) if unit == _DCGM else _gdrcopy(name)


def _dcgm(name: str, gpus: int) -> Result:
    done = run("dcgmi", "discovery", "--host", _SOCKET, "--list")
    found = re.search(r"^(\d+) GPUs? found", done.output, re.MULTILINE)
    if not done.ok or not found:
        detail = f"dcgmi: {done.last_line}; see journalctl --unit {_DCGM}"
        return Result(name, "", str(gpus), FAILED, detail)
    if int(found[1]) != gpus:
        detail = f"{gpus} on the PCI bus, and DCGM knows {found[1]}; see journalctl --unit {_DCGM}"
        return Result(name, found[1], str(gpus), FAILED, detail)
    return Result(name, found[1], str(gpus), OK)


def _gdrcopy(name: str) -> Result:
    if device_is_good():
        return Result(name, "", "", OK)
    detail = f"{DEVICE} is not the loaded driver's, for everybody; see journalctl --unit {_GDRCOPY}"
    return Result(name, "", "", FAILED, detail)
