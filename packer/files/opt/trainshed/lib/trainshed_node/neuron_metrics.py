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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trainshed_node.errors import NodeError
from trainshed_node.series import Series

PROGRAM = Path("/opt/aws/neuron/bin/neuron-monitor")
# Of a line, so much is shown: a report is long.
_SHOWN = 200
_HARDWARE = "hardware"
_ECC = ("mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_corrected", "sram_ecc_uncorrected")


class NeuronReports:
    """The newest report, and what all have counted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of_runtimes: list[Series] = []
        self._ecc: Counter[tuple[str, str]] = Counter()
        self._errors: Counter[str] = Counter()

    def follow(self) -> None:
        """Take each report of neuron-monitor, which does not end by itself.

        Raises:
            NodeError: it ended, or printed something else.
        """
        with subprocess.Popen(
            [PROGRAM], stdout=subprocess.PIPE, text=True, errors="replace"
        ) as running:
            try:
                self.take(running.stdout or ())
            except BaseException:
                # It would be waited for.
                running.kill()
                raise
        raise NodeError("neuron-monitor", f"ended with code {running.returncode}; run it by hand")

    def take(self, lines: Iterable[str]) -> None:
        """Take reports, each of which is a line of JSON.

        Raises:
            NodeError: a line is not, or in a form that is not known.
        """
        for line in lines:
            with self._lock, reading(line) as report:
                for device in below(report, "system_data", "neuron_hw_counters", "neuron_devices"):
                    for event in _ECC:
                        index = str(device["neuron_device_index"])
                        self._ecc[event, index] += device.get(event, 0)
                self._errors[_HARDWARE] += 0
                self._of_runtimes = []
                for each in report.get("neuron_runtime_data") or ():
                    tag, runtime = str(each["neuron_runtime_tag"]), each.get("report") or {}
                    self._errors.update(below(runtime, "execution_stats", "error_summary"))
                    self._of_runtimes += _of_runtime(tag, runtime)

    def series(self) -> Iterator[Series]:
        """Yield the series, of no core and runtime that the newest report does not have."""
        with self._lock:
            for (event, index), count in self._ecc.items():
                labels = {"event_type": event, "neuron_device_index": index}
                yield Series("hardware_ecc_events_total", "counter", count, labels)
            for kind, count in self._errors.items():
                yield Series("execution_errors_total", "counter", count, {"error_type": kind})
            yield from self._of_runtimes


@contextmanager
def reading(line: str) -> Iterator[Mapping[str, Any]]:
    """Return the report in a line, to be read in this context.

    Raises:
        NodeError: there is none, or what is read in it is not there or of another kind.
    """
    try:
        yield json.loads(line)
    except (AttributeError, KeyError, TypeError, ValueError):
        said = f"printed no report that is known: {line.strip()[:_SHOWN]}; run it by hand"
        raise NodeError("neuron-monitor", said) from None


def _of_runtime(tag: str, runtime: Mapping[str, Any]) -> Iterator[Series]:
    for core, counters in below(runtime, "neuroncore_counters", "neuroncores_in_use").items():
        yield Series(
            "neuroncore_utilization_ratio",
            "gauge",
            counters["neuroncore_utilization"] / 100,
            {"neuroncore": core, "runtime_tag": tag},
        )
    used = below(runtime, "memory_used", "neuron_runtime_used_bytes")
    for location in ("host", "neuron_device"):
        if location in used:
            labels = {"memory_location": location, "runtime_tag": tag}
            yield Series("neuron_runtime_memory_used_bytes", "gauge", used[location], labels)


def below(document: Mapping[str, Any], *keys: str) -> Any:
    """Return what is below these keys; nothing where a group has an error instead."""
    for key in keys:
        document = document.get(key) or {}
    return document
