"""Self-test: the kernel's arguments, its clock, and the clocks of the GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trainshed_node.recipe import Recipe
from trainshed_node.results import FAILED, OK, Result, unchecked, verdict
from trainshed_node.system import run

_ARGUMENTS = Path("/etc/trainshed/kernel-arguments")
_COMMAND_LINE = Path("/proc/cmdline")
_CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_GPU_CLOCKS = "trainshed-gpu-clocks.service"


def check_tuning(recipe: Recipe) -> Iterator[Result]:
    """Yield results for what makes a machine fast and steady."""
    in_container = run("systemd-detect-virt", "--container", "--quiet").ok
    given = _COMMAND_LINE.read_text(encoding="ascii").split()
    for argument in kernel_arguments():
        name = f"kernel argument {argument.partition('=')[0]}"
        if in_container:
            yield unchecked(name, "a container has its host's kernel", expected=argument)
        else:
            yield verdict(
                name, argument in given, detail=f"the kernel was booted without {argument}"
            )
    yield _clock(in_container)
    if recipe.accelerator == "nvidia":
        yield _gpu_clocks()


def kernel_arguments() -> list[str]:
    """Return the arguments that the AMI's kernel is booted with."""
    lines = _ARGUMENTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _clock(in_container: bool) -> Result:
    name = "clock source"
    if in_container or not _CLOCK.exists():
        return unchecked(name, "this machine's kernel is not the AMI's", expected="tsc")
    clock = _CLOCK.read_text(encoding="ascii").strip()
    return Result(name, clock, "tsc", OK if clock == "tsc" else FAILED)


def _gpu_clocks() -> Result:
    """The unit is skipped where there is no GPU, and fails where a GPU refuses its own clocks."""
    name = "GPU clocks"
    if not any(Path("/dev").glob("nvidia[0-9]*")):
        return unchecked(name, "this machine has no GPU")
    state = run("systemctl", "is-active", _GPU_CLOCKS).output.strip()
    return verdict(name, state == "active", detail=f"{_GPU_CLOCKS} is {state or 'unknown'}")
