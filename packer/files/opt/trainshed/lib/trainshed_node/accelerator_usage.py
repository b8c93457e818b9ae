"""What the accelerators of this node do now, by the tool of their maker."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from trainshed_node.errors import NodeError
from trainshed_node.neuron_metrics import PROGRAM, below, reading
from trainshed_node.tool_tables import number, rows

_TOOL_SECONDS = 10
_MIB = 1024 * 1024
# nvidia-smi's documentation, "--help-query-gpu".
_NVIDIA = (
    *("index", "utilization.gpu", "memory.used", "memory.total", "temperature.gpu", "power.draw"),
    "ecc.errors.uncorrected.volatile.total",
)
# Intel's guide "System Management Interface Tool (hl-smi)": memory in MiB, power in watts.
_HABANA = (
    *("index", "utilization.aip", "memory.used", "memory.total", "temperature.aip", "power.draw"),
    "ecc.errors.uncorrected.volatile.total",
)
# AWS Neuron documentation, "Neuron Monitor User Guide".
_NEURON_CONFIG = {
    "period": "1s",
    "neuron_runtimes": [
        {"tag_filter": ".*", "metrics": [{"type": "neuroncore_counters"}, {"type": "memory_used"}]}
    ],
    "system_metrics": [{"type": "neuron_hw_counters"}],
}


class Accelerator(NamedTuple):
    """What one accelerator does; None where its tool does not say.

    Attributes:
        number: of the accelerator.
        busy: percent of the time in which it computed.
        used: MiB of its memory.
        total: MiB of its memory in all.
        celsius: its temperature.
        watts: its power.
        errors: uncorrectable errors of its memory: of Neuron within the second, of others since it
            was reset.
    """

    number: int
    busy: float | None
    used: float | None
    total: float | None
    celsius: float | None
    watts: float | None
    errors: float | None


def accelerators() -> Iterator[Accelerator]:
    """Yield them, by the tool that the AMI has.

    Raises:
        NodeError: there is no such tool, or it does not answer.
    """
    for tool, read in _READERS.items():
        if shutil.which(tool):
            return read(tool)
    names = ", ".join(dict.fromkeys(tool.rpartition("/")[2] for tool in _READERS))
    raise NodeError("accelerators", f"none of {names} is there; use an AMI of trainshed")


def _by_nvidia(tool: str) -> Iterator[Accelerator]:
    return _by_query(tool, f"--query-gpu={','.join(_NVIDIA)}", "--format=csv,noheader,nounits")


def _by_habana(tool: str) -> Iterator[Accelerator]:
    return _by_query(tool, "-Q", ",".join(_HABANA), "-f", "csv,noheader,nounits")


def _by_query(*command: str) -> Iterator[Accelerator]:
    for row in rows(*command, timeout=_TOOL_SECONDS):
        index, *values = map(number, row)
        if index is not None:
            yield Accelerator(int(index), *values)


def _by_neuron(tool: str) -> Iterator[Accelerator]:
    with reading(_neuron_line(tool)) as report:
        yield from _of_report(report)


def _of_report(report: Mapping[str, Any]) -> Iterator[Accelerator]:
    hardware = report["neuron_hardware_info"]
    if problem := hardware.get("error"):
        raise NodeError("neuron-monitor", f"{problem}; replace the node if that stays")
    cores = hardware["neuroncore_per_device_count"]
    busy, used, errors = dict[int, float](), dict[int, float](), dict[int, int]()
    for runtime in report.get("neuron_runtime_data") or ():
        for core, counters in below(
            runtime, "report", "neuroncore_counters", "neuroncores_in_use"
        ).items():
            device = int(core) // cores
            busy[device] = busy.get(device, 0) + counters["neuroncore_utilization"] / cores
        for core, kinds in below(
            *(runtime, "report", "memory_used", "neuron_runtime_used_bytes"),
            *("usage_breakdown", "neuroncore_memory_usage"),
        ).items():
            device = int(core) // cores
            used[device] = used.get(device, 0) + sum(kinds.values()) / _MIB
    for device in below(report, "system_data", "neuron_hw_counters", "neuron_devices"):
        errors[device["neuron_device_index"]] = (
            device["mem_ecc_uncorrected"] + device["sram_ecc_uncorrected"]
        )
    for index in range(hardware["neuron_device_count"]):
        yield Accelerator(
            number=index,
            # A core that no runtime uses is not in the report.
            busy=round(busy.get(index, 0), 1),
            used=round(used.get(index, 0)),
            total=hardware["neuron_device_memory_size"] // _MIB,
            celsius=None,
            watts=None,
            errors=errors.get(index),
        )


def _neuron_line(tool: str) -> str:
    """Return the first report of neuron-monitor, which does not end by itself."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump(_NEURON_CONFIG, config)
        config.flush()
        # `timeout` ends it also where it prints nothing. It is not waited for: what hangs in a
        # driver does not end.
        running = subprocess.Popen(
            ["timeout", str(_TOOL_SECONDS), tool, "-c", config.name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
        line = running.stdout.readline() if running.stdout else ""
        running.terminate()
    if not line:
        raise NodeError(tool, f"no report within {_TOOL_SECONDS} seconds; run it by hand")
    return line


_READERS: Mapping[str, Callable[[str], Iterator[Accelerator]]] = {
    "nvidia-smi": _by_nvidia,
    "hl-smi": _by_habana,
    str(PROGRAM): _by_neuron,
    "neuron-monitor": _by_neuron,
}
