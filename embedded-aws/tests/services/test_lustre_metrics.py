"""What Lustre file systems send of their storage, and that alarms see it."""

import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import psutil
import pytest

from embedded_aws.controls import STORAGE_PATH
from embedded_aws.embedded import EmbeddedAws

GIB = 2**30
MINUTE = timedelta(minutes=1)
TIERED = {
    "StorageType": "INTELLIGENT_TIERING",
    "LustreConfiguration": {
        "DeploymentType": "PERSISTENT_2",
        "ThroughputCapacity": 4000,
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
        "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
    },
}


class Place:
    """A VPC for file systems, and how far the clock has jumped."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.aws, self.passed = aws, timedelta()
        self.fsx, self.cloudwatch = aws.client("fsx"), aws.client("cloudwatch")
        ec2 = aws.client("ec2")
        ec2.create_default_vpc()
        self.subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]

    def create(self, capacity: int = 2400, **others: Any) -> str:
        params = {
            "StorageCapacity": capacity,
            "LustreConfiguration": {"DeploymentType": "SCRATCH_2"},
            **others,
        }
        made: str = self.fsx.create_file_system(
            FileSystemType="LUSTRE",
            FileSystemTypeVersion="2.15",
            SubnetIds=[self.subnet],
            **{name: value for name, value in params.items() if value},
        )["FileSystem"]["FileSystemId"]
        return made

    def let_pass(self, hours: float) -> None:
        self.aws.let_pass(hours=hours)
        self.passed += timedelta(hours=hours)

    def values(
        self, file_system: str, metric: str, statistic: str = "Sum", **more: str
    ) -> list[float]:
        """Return the value of each minute of the last hours, the oldest first."""
        now = datetime.now(UTC) + self.passed
        of = {"FileSystemId": file_system, **more}
        [found] = self.cloudwatch.get_metric_data(
            StartTime=now - timedelta(hours=12),
            EndTime=now + MINUTE,
            ScanBy="TimestampAscending",
            MetricDataQueries=[
                {
                    "Id": "asked",
                    "MetricStat": {
                        "Metric": {
                            "Namespace": "AWS/FSx",
                            "MetricName": metric,
                            "Dimensions": [{"Name": key, "Value": of[key]} for key in of],
                        },
                        "Period": 60,
                        "Stat": statistic,
                        "Unit": "Bytes",
                    },
                }
            ],
        )["MetricDataResults"]
        values: list[float] = found["Values"]
        return values

    def folder(self, file_system: str) -> Path:
        """The folder of a file system on this machine, as its first mount makes it."""
        server = psutil.Process(self.aws.server.process.pid)
        links = (
            Path(f"/proc/{each.pid}/fd") for each in (server, *server.children(recursive=True))
        )
        opened = (str(fd.readlink()) for folder in links for fd in folder.iterdir())
        lock = next(Path(each) for each in opened if "/embedded-aws-" in each and "lock" in each)
        made = lock.parent / "shared-storage" / file_system
        made.mkdir(parents=True)
        return made


@pytest.fixture
def place(clean_aws: EmbeddedAws) -> Place:
    return Place(clean_aws)


def written(path: Path) -> int:
    """Write a MiB; return what it takes."""
    with path.open("wb") as file:
        file.write(os.urandom(2**20))
        os.fsync(file.fileno())
    return path.stat().st_blocks * 512


def test_a_file_system_is_empty_and_sends_that_each_minute(place: Place) -> None:
    name = place.create(2400)
    place.let_pass(0.5)

    used = place.values(name, "PhysicalDiskUsage")

    # One more when a minute ends meanwhile.
    assert len(used) in (31, 32)
    assert set(used) == {0}
    # Two storage targets, each with a value of its own.
    assert set(place.values(name, "PhysicalDiskUsage", "SampleCount")) == {2}
    for target in ("OST0000", "OST0001"):
        free = place.values(name, "FreeDataStorageCapacity", StorageTargetId=target)
        assert set(free) == {1200 * GIB}
        assert len(free) == len(used)
    assert place.values(name, "FreeDataStorageCapacity", StorageTargetId="OST0002") == []
    assert place.values(name, "FreeDataStorageCapacity") == []


def test_a_file_system_without_a_size_and_one_that_is_gone_send_nothing(place: Place) -> None:
    tiered = place.create(0, **TIERED)
    gone = place.create()
    place.fsx.delete_file_system(FileSystemId=gone)
    place.let_pass(0.2)

    assert place.values(tiered, "PhysicalDiskUsage") == []
    assert place.values(gone, "PhysicalDiskUsage") == []


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
def test_the_blocks_of_files_are_used_and_holes_are_not(place: Place) -> None:
    name = place.create(1200)
    folder = place.folder(name)
    (folder / "data").mkdir()
    used = written(folder / "data/first") + written(folder / "second")
    (folder / "again").hardlink_to(folder / "second")
    (folder / "elsewhere").symlink_to("/usr")
    with (folder / "hole").open("wb") as hole:
        hole.truncate(2**40)
    place.let_pass(0.1)

    assert place.values(name, "PhysicalDiskUsage")[-5:] == [used] * 5
    assert place.values(name, "LogicalDiskUsage")[-5:] == [used] * 5
    [free] = set(place.values(name, "FreeDataStorageCapacity", StorageTargetId="OST0000")[-5:])
    assert free == 1200 * GIB - used

    (folder / "second").unlink()
    (folder / "again").unlink()
    place.let_pass(0.1)
    assert set(place.values(name, "PhysicalDiskUsage")[-5:]) == {used / 2}


def test_minutes_before_a_change_have_what_was_used_then(place: Place) -> None:
    name = place.create(1200)
    place.let_pass(0.5)
    place.aws.fill_storage(name, 600)
    place.let_pass(0.5)
    place.aws.fill_storage(name, 0)
    place.let_pass(0.2)

    used = place.values(name, "PhysicalDiskUsage")

    assert set(used[:30]) == {0}
    assert set(used[32:60]) == {600 * GIB}
    assert set(used[-11:]) == {0}


def test_of_a_long_time_only_the_last_hours_are_sent(place: Place) -> None:
    name = place.create()
    place.let_pass(10)

    # The minute in which it was made is not among them.
    assert len(place.values(name, "PhysicalDiskUsage")) in (181, 182)


def test_an_alarm_goes_off_after_fifteen_minutes_and_ends_by_deleted_data(place: Place) -> None:
    name = place.create(1200)
    place.cloudwatch.put_metric_alarm(
        AlarmName="full",
        Metrics=[
            {
                "Id": "used",
                "MetricStat": {
                    "Metric": {
                        "Namespace": "AWS/FSx",
                        "MetricName": "PhysicalDiskUsage",
                        "Dimensions": [{"Name": "FileSystemId", "Value": name}],
                    },
                    "Period": 60,
                    "Stat": "Sum",
                },
                "ReturnData": False,
            },
            {"Id": "full", "Expression": f"100 * used / {1200 * GIB}"},
        ],
        EvaluationPeriods=15,
        Threshold=85,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="ignore",
    )

    def state() -> str:
        [found] = place.cloudwatch.describe_alarms()["MetricAlarms"]
        return str(found["StateValue"])

    states = []
    for gib, hours in ((0, 0.5), (1000, 0.5), (1080, 0.2), (1080, 0.1), (0, 0.1)):
        place.aws.fill_storage(name, gib)
        place.let_pass(hours)
        states.append(state())

    # 83 percent, 90 percent for 12 minutes, for 18 minutes, and none of it.
    assert states == ["OK", "OK", "OK", "ALARM", "OK"]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({}, "not a list of file systems"),
        ([{"file_system": "NAME"}], "an object with file_system and gib"),
        ([{"file_system": "fs-0", "gib": 1}], "no Lustre file system 'fs-0'"),
        ([{"file_system": "TIERED", "gib": 1}], "of a fixed size"),
        ([{"file_system": "NAME", "gib": 1201}], "from 0 to 1200, got 1201"),
        ([{"file_system": "NAME", "gib": -1}], "from 0 to 1200, got -1"),
        ([{"file_system": "NAME", "gib": True}], "from 0 to 1200, got True"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    place: Place, found: Sequence[object] | object, why: str
) -> None:
    name, tiered = place.create(1200), place.create(0, **TIERED)
    posted = json.loads(json.dumps(found).replace("NAME", name).replace("TIERED", tiered))

    with pytest.raises(HTTPError) as caught:
        place.aws.settings.controls.post(STORAGE_PATH, posted)

    assert caught.value.code == 400
    assert why in caught.value.read().decode()
    place.let_pass(0.1)
    assert set(place.values(name, "PhysicalDiskUsage")) == {0}
