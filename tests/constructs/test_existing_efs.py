"""The function that lets nodes in to an existing EFS file system, zone by zone."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

OURS, THEIRS = "sg-1", "sg-2"
ZONES = {"subnet-1": "usw2-az1", "subnet-2": "usw2-az2"}

LoadHandler = Callable[[str], tuple[Any, list[Any]]]


class Efs:
    """A file system with a mount target in each zone; the groups of each by its id."""

    exceptions = SimpleNamespace(FileSystemNotFound=KeyError)

    def __init__(self, groups: dict[str, list[str]]) -> None:
        self.groups = groups

    def describe_file_systems(self, **_: str) -> dict[str, Any]:
        return {"FileSystems": [{"LifeCycleState": "available"}]}

    def describe_mount_targets(self, **_: str) -> dict[str, Any]:
        found = [
            {"MountTargetId": name, "AvailabilityZoneId": name, "VpcId": "vpc-1"}
            for name in self.groups
        ]
        return {"MountTargets": found}

    def describe_mount_target_security_groups(self, *, MountTargetId: str) -> dict[str, Any]:
        return {"SecurityGroups": self.groups[MountTargetId]}

    def modify_mount_target_security_groups(
        self, *, MountTargetId: str, SecurityGroups: list[str]
    ) -> None:
        self.groups[MountTargetId] = SecurityGroups

    def delete_mount_target(self, *, MountTargetId: str) -> None:
        del self.groups[MountTargetId]


class Ec2:
    """Knows in which zone a subnet is."""

    def describe_subnets(self, *, SubnetIds: list[str]) -> dict[str, Any]:
        return {"Subnets": [{"AvailabilityZoneId": ZONES[SubnetIds[0]]}]}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        pytest.param(
            "Delete",
            {"usw2-az1": [OURS], "usw2-az2": [OURS]},
            {"usw2-az2": [OURS]},
            id="one-that-was-made-goes-alone",
        ),
        pytest.param(
            "Delete",
            {"usw2-az1": [THEIRS, OURS], "usw2-az2": [THEIRS, OURS]},
            {"usw2-az1": [THEIRS], "usw2-az2": [THEIRS, OURS]},
            id="one-of-somebody-else-loses-the-group-alone",
        ),
        pytest.param(
            "Create",
            {"usw2-az1": [THEIRS], "usw2-az2": [THEIRS]},
            {"usw2-az1": [THEIRS, OURS], "usw2-az2": [THEIRS]},
            id="one-of-somebody-else-gets-the-group-alone",
        ),
    ],
)
def test_only_the_zone_of_the_subnet_is_touched(
    monkeypatch: pytest.MonkeyPatch,
    load_handler: LoadHandler,
    kind: str,
    before: dict[str, list[str]],
    after: dict[str, list[str]],
) -> None:
    handler, answers = load_handler("existing_efs")
    efs = Efs(before)
    clients = {"efs": efs, "ec2": Ec2()}
    monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=clients.__getitem__))
    asked = {
        "FileSystemId": "fs-0123456789abcdef0",
        "SubnetId": "subnet-1",
        "VpcId": "vpc-1",
        "GroupId": OURS,
    }

    handler.handler({"RequestType": kind, "ResourceProperties": asked}, None)

    assert [answer.status for answer in answers] == ["SUCCESS"]
    assert efs.groups == after
