"""What a node does now: its accelerators, its EFA devices, its processors and memory."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from trainshed_node.accelerator_usage import accelerators
from trainshed_node.efa_counters import read_counters
from trainshed_node.errors import NodeError

# Rates are of this time.
_SECONDS = 1
_MEMORY = Path("/proc/meminfo")
_MIB = 1024


def usage() -> dict[str, Any]:
    """Look for about a second.

    Returns:
        `seconds`: for how long it looked; `load`: processes that run or wait, on average of a
        minute; `cpus`: processors; `memory`: MiB in use, and in all; `efa`: what `EfaCounters` has,
        as it grew in that time, and how many `devices` there are; `accelerators`: one list for
        each, as `Accelerator` has it; `problem`: why there are none, or empty.
    """
    began, before = time.monotonic(), read_counters()
    found, problem = [], ""
    try:
        found = [list(each) for each in accelerators()]
    except NodeError as error:
        problem = str(error)
    time.sleep(max(0, _SECONDS - (time.monotonic() - began)))
    seconds, after = time.monotonic() - began, read_counters()
    return {
        "seconds": round(seconds, 3),
        "load": round(os.getloadavg()[0], 1),
        "cpus": os.cpu_count(),
        "memory": _memory(),
        # A device that was reset counts from 0.
        "efa": {
            "devices": after.devices,
            **{name: max(0, after.sums[name] - before.sums[name]) for name in after.sums},
        },
        "accelerators": found,
        "problem": problem,
    }


def _memory() -> list[int]:
    """Return MiB in use, and in all; proc(5): the values are in KiB."""
    lines = (line.split() for line in _MEMORY.read_text(encoding="ascii").splitlines())
    kib = {words[0].rstrip(":"): int(words[1]) for words in lines}
    return [(kib["MemTotal"] - kib["MemAvailable"]) // _MIB, kib["MemTotal"] // _MIB]
