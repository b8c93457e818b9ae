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

    class FileSystemNotFound(Exception):
        """Its own error."""

    exceptions = SimpleNamespace(FileSystemNotFound=FileSystemNotFound)

    def __init__(
        self, groups: dict[str, list[str]], state: str = "available", vpc: str = "vpc-1"
    ) -> None:
        self.groups, self.state, self.vpc = groups, state, vpc
        self.changes: list[str] = []
        # What was deleted is seen once more.
        self.deleting: list[str] = []

    def describe_file_systems(self, **_: str) -> dict[str, Any]:
        return {"FileSystems": [{"LifeCycleState": self.state}]}

    def describe_mount_targets(self, **_: str) -> dict[str, Any]:
        if self.state == "gone":
            raise self.FileSystemNotFound
        found = [
            {"MountTargetId": name, "AvailabilityZoneId": name, "VpcId": self.vpc}
            for name in (*self.groups, *self.deleting)
        ]
        self.deleting = []
        return {"MountTargets": found}

    def create_mount_target(
        self, *, FileSystemId: str, SubnetId: str, SecurityGroups: list[str]
    ) -> None:
        self.groups[ZONES[SubnetId]] = SecurityGroups

    def describe_mount_target_security_groups(self, *, MountTargetId: str) -> dict[str, Any]:
        return {"SecurityGroups": self.groups[MountTargetId]}

    def modify_mount_target_security_groups(
        self, *, MountTargetId: str, SecurityGroups: list[str]
    ) -> None:
        self.groups[MountTargetId] = SecurityGroups
        self.changes.append(MountTargetId)

    def delete_mount_target(self, *, MountTargetId: str) -> None:
        del self.groups[MountTargetId]
        self.deleting = [MountTargetId]


class Ec2:
    """Knows in which zone a subnet is."""

    def describe_subnets(self, *, SubnetIds: list[str]) -> dict[str, Any]:
        return {"Subnets": [{"AvailabilityZoneId": ZONES[SubnetIds[0]]}]}


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch, load_handler: LoadHandler) -> Callable[[str, Efs], Any]:
    """Ask the function about the zone of the first subnet."""
    handler, answers = load_handler("existing_efs")
    asked = {
        "FileSystemId": "fs-0123456789abcdef0",
        "SubnetId": "subnet-1",
        "VpcId": "vpc-1",
        "GroupId": OURS,
    }

    def ask(kind: str, efs: Efs) -> Any:
        clients = {"efs": efs, "ec2": Ec2()}
        monkeypatch.setattr(handler, "boto3", SimpleNamespace(client=clients.__getitem__))
        handler.handler({"RequestType": kind, "ResourceProperties": asked}, None)
        return answers[-1]

    return ask


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that it sleeps, which pass at once."""
    found: list[float] = []
    monkeypatch.setattr("time.sleep", found.append)
    return found


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
        pytest.param(
            "Create",
            {"usw2-az2": [THEIRS]},
            {"usw2-az2": [THEIRS], "usw2-az1": [OURS]},
            id="one-is-made-where-there-is-none",
        ),
    ],
)
def test_only_the_zone_of_the_subnet_is_touched(
    answer: Callable[[str, Efs], Any],
    kind: str,
    before: dict[str, list[str]],
    after: dict[str, list[str]],
) -> None:
    efs = Efs(before)

    assert answer(kind, efs).status == "SUCCESS"
    assert efs.groups == after


@pytest.mark.parametrize(
    ("state", "vpc", "reason"),
    [
        ("updating", "vpc-1", None),
        ("creating", "vpc-1", "fs-0123456789abcdef0 is creating"),
        ("available", "vpc-2", "has mount targets in vpc-2, and the nodes are in vpc-1"),
    ],
)
def test_it_must_be_there_for_nodes_of_the_vpc(
    answer: Callable[[str, Efs], Any], state: str, vpc: str, reason: str | None
) -> None:
    told = answer("Create", Efs({"usw2-az2": [THEIRS]}, state, vpc))

    assert told.status == ("FAILED" if reason else "SUCCESS")
    assert (reason or "") in (told.reason or "")


@pytest.mark.parametrize(
    ("kind", "groups"), [("Create", [THEIRS, OURS]), ("Update", [OURS]), ("Delete", [THEIRS])]
)
def test_what_is_so_already_is_not_changed(
    answer: Callable[[str, Efs], Any], kind: str, groups: list[str]
) -> None:
    efs = Efs({"usw2-az1": groups})

    assert answer(kind, efs).status == "SUCCESS"
    assert (efs.groups, efs.changes) == ({"usw2-az1": groups}, [])


def test_of_a_file_system_that_is_gone_nothing_is_taken_back(
    answer: Callable[[str, Efs], Any],
) -> None:
    assert answer("Delete", Efs({}, "gone")).status == "SUCCESS"


def test_the_group_waits_until_the_interface_of_a_mount_target_is_gone(
    answer: Callable[[str, Efs], Any], slept: list[float]
) -> None:
    assert answer("Delete", Efs({"usw2-az1": [OURS]})).status == "SUCCESS"
    assert slept == [4]
