"""Self-test: every accelerator and EFA device on the PCI bus has its driver, and answers.

A device file is made by the driver, so a missing file alone says nothing: the bus is counted, and
what the driver made of it is compared with that.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainshed_node.devices import DEVICES, find, verbs_devices
from trainshed_node.pci import count
from trainshed_node.recipe import Recipe
from trainshed_node.results import BAKE, FAILED, OK, Result, unchecked, verdict
from trainshed_node.system import has_command


def check_devices(recipe: Recipe, stage: str) -> Iterator[Result]:
    """Yield results for EFA and the accelerator; `version` is how many devices were found."""
    yield _check("efa", stage)
    yield _efa_comes_first()
    yield _check(recipe.accelerator, stage)


def _efa_comes_first() -> Result:
    """AWS Batch names verbs devices by number, so the first ones must be EFA's."""
    name = "efa devices first"
    devices = verbs_devices()
    efa = sum(is_efa for _, is_efa in devices)
    if not efa:
        return unchecked(name, "this machine has none")
    others = [device for device, is_efa in devices[:efa] if not is_efa]
    return verdict(name, not others, detail=f"{', '.join(others)} before them")


def _check(kind: str, stage: str) -> Result:
    name = f"{kind} device"
    tool = DEVICES[kind].command[0]
    if not has_command(tool):
        return verdict(name, False, detail=f"there is no {tool}")
    expected = count(DEVICES[kind].cards)
    if not expected:
        return unchecked(name, "this machine has none on its PCI bus")
    if stage == BAKE:
        return unchecked(name, f"{expected} on the PCI bus; drivers load at the next boot")
    found = find(kind)
    problems = [found.problem] if found.problem else []
    if found.files != expected:
        made = f"{expected} on the PCI bus, and the driver made {found.files}; see dmesg"
        problems.insert(0, made)
    state = FAILED if problems else OK
    return Result(name, str(found.files), str(expected), state, "; ".join(problems))
