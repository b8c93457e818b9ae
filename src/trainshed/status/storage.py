"""The shared storage of a cluster: whether it is available, and how full it is."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from trainshed.account.deployed_stacks import DeployedStack
from trainshed.aws import Region, accepting
from trainshed.jobs.why.questions import Questions
from trainshed.metrics import LUSTRE_METRICS
from trainshed.monitoring.widgets import FULL_PERCENT
from trainshed.plan.storage import StorageKind, StoragePlan
from trainshed.status.model import MISSING, StorageStatus

_GIB = 2**30
# FSx for Lustre user guide, "Monitoring with Amazon CloudWatch": a value each minute.
_PERIOD_SECONDS, _LOOK_BACK = 60, timedelta(minutes=15)
# FSx API reference, FileSystem, Lifecycle; EFS API reference, FileSystemDescription.
_WELL = ("AVAILABLE", "UPDATING", "available", "updating")
# FSx and EFS API references, DescribeFileSystems; S3 answers HEAD with a status alone.
_NOT_THERE = ("FileSystemNotFound", "404")


def storage_status(
    region: Region,
    storage: StoragePlan,
    stack: DeployedStack | None,
    now: datetime,
    questions: Questions,
) -> StorageStatus | None:
    """Ask for storage of a cluster; None when no stack has made it yet.

    Args:
        region: the cluster's.
        storage: as the cluster file has it.
        stack: that has it.
        now: the time.
        questions: of which the one for how much is used may be refused.
    """
    made = stack.ids(storage.resource_type) if stack else ()
    name = storage.existing or (made[0] if made else None)
    if name is None:
        return None
    with accepting(*_NOT_THERE):
        match storage.kind:
            case StorageKind.EFS:
                return _efs(region, name)
            case StorageKind.BUCKET:
                region.call("s3", "head_bucket", Bucket=name)
                return _without_size(storage.kind, name, "available")
            case _:
                return _fsx(region, storage.kind, name, now, questions)
    return _without_size(storage.kind, name, MISSING)


def storage_problems(found: StorageStatus) -> Iterator[str]:
    """Yield what is wrong with storage."""
    if found.state not in _WELL:
        yield f"{found.kind} {found.name} is {found.state}"
    percent = found.used_percent
    if percent is not None and percent >= FULL_PERCENT:
        yield f"{found.kind} {found.name} is {percent:.0f} % full: delete files, or give it more"


def _without_size(kind: StorageKind, name: str, state: str) -> StorageStatus:
    return StorageStatus(kind=kind, name=name, state=state, capacity_gib=None, used_gib=None)


def _efs(region: Region, name: str) -> StorageStatus:
    [found] = region.call("efs", "describe_file_systems", FileSystemId=name)["FileSystems"]
    return StorageStatus(
        kind=StorageKind.EFS,
        name=name,
        state=found["LifeCycleState"],
        capacity_gib=None,
        used_gib=found["SizeInBytes"]["Value"] / _GIB,
    )


def _fsx(
    region: Region, kind: StorageKind, name: str, now: datetime, questions: Questions
) -> StorageStatus:
    [found] = region.call("fsx", "describe_file_systems", FileSystemIds=[name])["FileSystems"]
    # Intelligent-Tiering has no fixed size.
    capacity = found.get("StorageCapacity")
    return StorageStatus(
        kind=kind,
        name=name,
        state=found["Lifecycle"],
        capacity_gib=capacity,
        used_gib=questions.ask(lambda: _used_gib(region, kind, name, now), None),
    )


def _used_gib(region: Region, kind: StorageKind, name: str, now: datetime) -> float | None:
    """Return how much of a file system of FSx is used, by the newest value of the metric."""
    if kind is not StorageKind.LUSTRE:
        return None
    used = LUSTRE_METRICS.used
    points: list[Mapping[str, Any]] = region.call(
        "cloudwatch",
        "get_metric_statistics",
        Namespace=used.namespace,
        MetricName=used.name,
        Dimensions=[{"Name": each, "Value": name} for each in used.dimensions],
        StartTime=now - _LOOK_BACK,
        EndTime=now,
        Period=_PERIOD_SECONDS,
        Statistics=[used.statistic],
    )["Datapoints"]
    newest = max(points, key=lambda each: each["Timestamp"], default=None)
    return newest[used.statistic] / _GIB if newest else None
