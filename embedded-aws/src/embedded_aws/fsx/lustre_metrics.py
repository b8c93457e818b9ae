"""The metrics that Lustre file systems send of their storage.

FSx for Lustre user guide, "Amazon FSx for Lustre metrics and dimensions": every minute, a value of
each object storage target (OST), whose sum is the file system's; PhysicalDiskUsage is what files
take as they are stored, LogicalDiskUsage without compression. FreeDataStorageCapacity had the
dimension FileSystemId alone until 2023 (github.com/awsdocs/amazon-fsx-lustre-user-guide); now those
who collect it find it by StorageTargetId, too (github.com/Netflix-Skunkworks/iep-apps, fsx.conf),
and it is sent in that form alone. Inferred: an OST for 1,200 GiB, as its network interfaces are
counted, that all fill evenly, and that Intelligent-Tiering, which has no size, sends none of them.
Left out: what Lustre takes for itself, and what clients read and write, which nothing here counts.

Nothing runs each minute: what a file system would have sent is there when metrics are read. Of the
minutes since then, those before the last change of a file have what was used then. Of a jump of the
clock it sends the last hours only.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from weakref import WeakKeyDictionary

from moto.backends import get_backend

from embedded_aws.clock import now
from embedded_aws.fsx.lustre_file_system import LustreFileSystem
from embedded_aws.fsx.used_space import use_of
from embedded_aws.hooks import when_metrics_read, when_time_passed

_NAMESPACE = "AWS/FSx"
_MINUTE, _AT_MOST = timedelta(minutes=1), timedelta(hours=3)
_GIB, _TARGET_GIB = 2**30, 1200


@dataclass(slots=True, kw_only=True)
class _Sent:
    """What a file system has sent.

    Attributes:
        next_minute: the first one of which it has sent nothing.
        used: bytes of the last one of which it has.
    """

    next_minute: datetime
    used: int


_sent: WeakKeyDictionary[LustreFileSystem, _Sent] = WeakKeyDictionary()
_guard = threading.Lock()
# How far the clock was ahead of the machine's before it last jumped.
_ahead = timedelta()


@when_metrics_read
def _send(account: str, region: str) -> None:
    """Send what file systems have not sent yet of the minutes that have begun."""
    with _guard:
        for of_account, of_region, file_system in _file_systems():
            if (of_account, of_region) == (account, region):
                _send_of(account, region, file_system)


@when_time_passed
def _send_all() -> None:
    """Send all before more time passes: the last change of a file was before this jump."""
    global _ahead
    with _guard:
        for account, region, file_system in _file_systems():
            _send_of(account, region, file_system)
        _ahead = now() - datetime.now(UTC)


def _file_systems() -> Iterator[tuple[str, str, LustreFileSystem]]:
    """Yield accounts, regions, and the file systems that have a size; all are AVAILABLE."""
    for account, regions in list(get_backend("fsx").items()):
        for region, backend in list(regions.items()):
            for each in list(backend.file_systems.values()):
                if isinstance(each, LustreFileSystem) and "StorageCapacity" in each.params:
                    yield account, region, each


def _send_of(account: str, region: str, file_system: LustreFileSystem) -> None:
    time = now()
    created = _minute_of(file_system.created)
    sent = _sent.setdefault(file_system, _Sent(next_minute=created, used=0))
    minute = max(sent.next_minute, _minute_of(time - _AT_MOST))
    if minute > time:
        return
    use = use_of(file_system)
    changed = use.changed + _ahead if use.changed else created
    backend = get_backend("cloudwatch")[account][region]
    while minute <= time:
        used = use.size if minute + _MINUTE > changed else sent.used
        backend.put_metric_data(_NAMESPACE, _data(file_system, minute, used))
        minute += _MINUTE
    sent.next_minute, sent.used = minute, use.size


def _data(file_system: LustreFileSystem, minute: datetime, used: int) -> list[dict[str, Any]]:
    """Return what a file system sends of a minute."""
    capacity = file_system.params["StorageCapacity"]
    targets = -(-capacity // _TARGET_GIB)
    of_file_system = [{"Name": "FileSystemId", "Value": file_system.file_system_id}]
    of_minute = {"Timestamp": minute.replace(tzinfo=None), "Unit": "Bytes"}
    free = max(0, capacity * _GIB - used) / targets
    taken = {
        "SampleCount": targets,
        "Sum": used,
        "Minimum": used / targets,
        "Maximum": used / targets,
    }
    return [
        *(
            {
                "MetricName": name,
                "Dimensions": of_file_system,
                "StatisticValues": taken,
                **of_minute,
            }
            for name in ("PhysicalDiskUsage", "LogicalDiskUsage")
        ),
        *(
            {
                "MetricName": "FreeDataStorageCapacity",
                "Dimensions": [
                    *of_file_system,
                    # lfs(1) names OSTs so, by their index in hexadecimal.
                    {"Name": "StorageTargetId", "Value": f"OST{index:04x}"},
                ],
                "Value": free,
                **of_minute,
            }
            for index in range(targets)
        ),
    ]


def _minute_of(time: datetime) -> datetime:
    return time.replace(second=0, microsecond=0)
