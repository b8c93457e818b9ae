"""What a node does now: its accelerators, its EFA devices, its processors and memory."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from trainshed_node.accelerator_usage import accelerators
from trainshed_node.efa_counters import EfaCounters, read_counters
from trainshed_node.errors import NodeError

# Rates are of this time.
_SECONDS = 1
_MEMORY = Path("/proc/meminfo")
_MIB = 1024
_T = TypeVar("_T")


def usage() -> dict[str, Any]:
    """Look for about a second.

    Returns:
        `seconds`: for how long it looked; `load`: processes that run or wait, on average of a
        minute; `cpus`: processors; `memory`: MiB in use, and in all; `efa`: what `EfaCounters` has,
        as it grew in that time, and how many `devices` there are, or None; `accelerators`: one
        list for each, as `Accelerator` has it; `problem`: why something is not there, or empty.
    """
    problems = list[str]()
    began, before = time.monotonic(), _told(read_counters, problems)
    found = _told(lambda: [list(each) for each in accelerators()], problems)
    time.sleep(max(0, _SECONDS - (time.monotonic() - began)))
    seconds, after = time.monotonic() - began, _told(read_counters, problems) if before else None
    return {
        "seconds": round(seconds, 3),
        "load": round(os.getloadavg()[0], 1),
        "cpus": os.cpu_count(),
        "memory": _memory(),
        "efa": _growth(before, after) if before and after else None,
        "accelerators": found or [],
        "problem": "; ".join(problems),
    }


def _told(ask: Callable[[], _T], problems: list[str]) -> _T | None:
    """Return an answer; None, with one more problem, where there is none."""
    try:
        return ask()
    except NodeError as error:
        problems.append(str(error))
        return None


def _growth(before: EfaCounters, after: EfaCounters) -> dict[str, int]:
    # A device that was reset counts from 0.
    grown = {name: max(0, after.sums[name] - before.sums[name]) for name in after.sums}
    return {"devices": after.devices, **grown}


def _memory() -> list[int]:
    """Return MiB in use, and in all; proc(5): the values are in KiB."""
    lines = (line.split() for line in _MEMORY.read_text(encoding="ascii").splitlines())
    kib = {words[0].rstrip(":"): int(words[1]) for words in lines}
    return [(kib["MemTotal"] - kib["MemAvailable"]) // _MIB, kib["MemTotal"] // _MIB]
