"""What a Lustre file system sends of minutes in which nobody read its metrics."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto.backends import get_backend

from embedded_aws.fsx.used_space import Use
from embedded_aws.settings import DEFAULT_ACCOUNT

MINUTE, SIZE = timedelta(minutes=1), 2**30


def test_they_have_what_was_used_before_the_last_change(
    client: Callable[..., Any], subnet: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]["FileSystemId"]
    now = datetime.now(UTC)
    made = get_backend("fsx")[DEFAULT_ACCOUNT]["us-west-2"].file_systems[name]
    # Half an hour ago, with one file that was written ten minutes ago.
    vars(made)["created"] = now - MINUTE * 30
    use = Use(size=SIZE, changed=now - MINUTE * 10)
    monkeypatch.setattr("embedded_aws.fsx.lustre_metrics.use_of", lambda _: use)

    points = client("cloudwatch").get_metric_statistics(
        Namespace="AWS/FSx",
        MetricName="PhysicalDiskUsage",
        Dimensions=[{"Name": "FileSystemId", "Value": name}],
        StartTime=now - MINUTE * 40,
        EndTime=now + MINUTE,
        Period=60,
        Statistics=["Sum"],
    )["Datapoints"]

    values = [each["Sum"] for each in sorted(points, key=lambda each: each["Timestamp"])]
    # The minute of the change is the first of those after it.
    assert values[:20] == [0] * 20
    assert values[20:31] == [SIZE] * 11
