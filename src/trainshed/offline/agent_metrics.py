"""Memory and disks, which the stand-in of the CloudWatch agent sends by PutMetricData.

CloudWatch API reference, PutMetricData: up to 1000 metrics in a call.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from trainshed.aws import Region
from trainshed.files import read_text

_AT_ONCE = 1000


def send_metrics(
    region: Region, metrics: Mapping[str, Any], instance: str, times: Sequence[datetime]
) -> None:
    """Send what is so on this machine, once for each of some times.

    Args:
        region: where to.
        metrics: the section of the agent's configuration.
        instance: id of the node.
        times: the oldest first.

    Raises:
        TrainshedError: AWS refuses a call.
    """
    found = list(_rolled_up(metrics, instance))
    data = [
        {
            "MetricName": name,
            "Dimensions": [{"Name": key, "Value": of} for key, of in dimensions.items()],
            "Timestamp": time,
            "Value": value,
            "Unit": unit,
        }
        for time in times
        for name, dimensions, value, unit in found
    ]
    for start in range(0, len(data), _AT_ONCE):
        region.call(
            "cloudwatch",
            "put_metric_data",
            Namespace=metrics["namespace"],
            MetricData=data[start : start + _AT_ONCE],
        )


def _rolled_up(
    metrics: Mapping[str, Any], instance: str
) -> Iterator[tuple[str, dict[str, str], float, str]]:
    """Yield each value with its own dimensions, unless they are dropped, and with fewer ones."""
    for kind, section in metrics["metrics_collected"].items():
        of_section = {**section.get("append_dimensions", {}), "InstanceId": instance}
        for name, own, value, unit in _measured(kind, section):
            if name not in section["measurement"]:
                continue
            dimensions = {**own, **of_section}
            if name not in section.get("drop_original_metrics", ()):
                yield name, dimensions, value, unit
            for keys in metrics["aggregation_dimensions"]:
                if len(keys) < len(dimensions):
                    yield name, {key: dimensions[key] for key in keys}, value, unit


def _measured(
    kind: str, section: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, str], float, str]]:
    """Yield what is so on this machine."""
    if kind == "mem":
        facts = dict(re.findall(r"(\w+):\s+(\d+)", read_text(Path("/proc/meminfo"))))
        free = int(facts["MemAvailable"]) / int(facts["MemTotal"])
        yield "mem_used_percent", {}, 100 * (1 - free), "Percent"
        return
    for path in section["resources"]:
        with suppress(FileNotFoundError):
            used, files = shutil.disk_usage(path), os.statvfs(path)
            own = {"path": path, "fstype": "xfs"}
            yield "disk_used_percent", own, 100 * used.used / used.total, "Percent"
            yield "disk_inodes_free", own, files.f_ffree, "Count"
