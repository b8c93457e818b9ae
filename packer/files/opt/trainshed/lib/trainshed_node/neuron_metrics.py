"""What neuron-monitor says, under the names of its companion `neuron-monitor-prometheus.py`.

The companion needs the Python package prometheus_client, which neither the AMI nor Neuron's
packages have. AWS Neuron documentation, "Neuron Monitor User Guide": the report, by default one
each five seconds. As the companion does it, counts of a report are added up, and a core's
utilization of 0 to 100 becomes a ratio. Unlike there, errors of all runtimes are one series of each
kind: the agent sends what a series grew by, and so nothing of its first value, which would be the
errors of a runtime that has just started.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trainshed_node.errors import NodeError
from trainshed_node.series import Series

PROGRAM = Path("/opt/aws/neuron/bin/neuron-monitor")
_HARDWARE = "hardware"
_ECC = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected")


class NeuronReports:
    """The newest report, and what all have counted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._report: Mapping[str, Any] = {}
        self._ecc: Counter[tuple[str, str]] = Counter()
        self._errors: Counter[str] = Counter()

    def follow(self, program: Path = PROGRAM) -> None:
        """Take each report of the program, which does not end by itself.

        Raises:
            NodeError: it ended, or printed something else.
        """
        with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as running:
            try:
                self.take(running.stdout or ())
            except NodeError:
                # It would be waited for.
                running.kill()
                raise
        raise NodeError("neuron-monitor", f"ended with code {running.returncode}; run it by hand")

    def take(self, lines: Iterable[str]) -> None:
        """Take reports, each of which is a line of JSON.

        Raises:
            NodeError: a line is not.
        """
        for line in lines:
            try:
                report = json.loads(line)
            except ValueError:
                raise NodeError("neuron-monitor", f"printed no report: {line.strip()}") from None
            with self._lock:
                self._report = report
                for device in _of(report, "system_data", "neuron_hw_counters", "neuron_devices"):
                    for event in _ECC:
                        index = str(device["neuron_device_index"])
                        self._ecc[event, index] += device.get(event, 0)
                self._errors[_HARDWARE] += 0
                for _, runtime in self._runtimes():
                    self._errors.update(_of(runtime, "execution_stats", "error_summary"))

    def series(self) -> Iterator[Series]:
        """Yield the series, of no core and runtime that the newest report does not have."""
        with self._lock:
            for (event, index), count in self._ecc.items():
                labels = {"event_type": event, "neuron_device_index": index}
                yield Series("hardware_ecc_events_total", "counter", count, labels)
            for kind, count in self._errors.items():
                yield Series("execution_errors_total", "counter", count, {"error_type": kind})
            for tag, runtime in self._runtimes():
                yield from _of_runtime(tag, runtime)

    def _runtimes(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for each in self._report.get("neuron_runtime_data") or ():
            yield str(each["neuron_runtime_tag"]), each.get("report") or {}


def _of_runtime(tag: str, runtime: Mapping[str, Any]) -> Iterator[Series]:
    for core, counters in dict(_of(runtime, "neuroncore_counters", "neuroncores_in_use")).items():
        yield Series(
            "neuroncore_utilization_ratio",
            "gauge",
            counters["neuroncore_utilization"] / 100,
            {"neuroncore": core, "runtime_tag": tag},
        )
    used = dict(_of(runtime, "memory_used", "neuron_runtime_used_bytes"))
    for location in ("host", "neuron_device"):
        if location in used:
            labels = {"memory_location": location, "runtime_tag": tag}
            yield Series("neuron_runtime_memory_used_bytes", "gauge", used[location], labels)


def _of(document: Mapping[str, Any], *keys: str) -> Any:
    """Return what is below these keys; nothing where a group has an error instead."""
    for key in keys:
        document = document.get(key) or {}
    return document
