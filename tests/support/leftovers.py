"""What an account and this machine hold of instances: to be alike before and after a failure."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from embedded_aws.embedded import EmbeddedAws


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """Names of all that a bake may leave.

    Attributes:
        resources: of EC2, by kind.
        folders: of guests and layers of disks.
        mounts: of guests' disks.
        processes: that each hold a guest.
    """

    resources: dict[str, frozenset[str]]
    folders: frozenset[str]
    mounts: frozenset[str]
    processes: frozenset[int]


def holdings(aws: EmbeddedAws, folder: Path) -> Holdings:
    """Look at an embedded AWS and at what its guests have of this machine.

    Args:
        aws: with guests.
        folder: its temporary folder.
    """
    server = psutil.Process(aws.server.process.pid)
    descendants = server.children(recursive=True)
    return Holdings(
        resources=_resources(aws.client("ec2")),
        folders=frozenset(
            str(path) for kind in ("i-*", "layers/*") for path in folder.glob(f"*/guests-*/{kind}")
        ),
        mounts=frozenset(mount for process in descendants for mount in _mounts(process, folder)),
        processes=frozenset(
            process.pid for process in descendants if _name(process) == "systemd-nspawn"
        ),
    )


def _resources(ec2: Any) -> dict[str, frozenset[str]]:
    instances = [
        instance["InstanceId"]
        for reservation in ec2.describe_instances()["Reservations"]
        for instance in reservation["Instances"]
        if instance["State"]["Name"] != "terminated"
    ]
    return {
        "instances": frozenset(instances),
        "key pairs": _ids(ec2.describe_key_pairs()["KeyPairs"], "KeyName"),
        "security groups": _ids(ec2.describe_security_groups()["SecurityGroups"], "GroupId"),
        "volumes": _ids(ec2.describe_volumes()["Volumes"], "VolumeId"),
        "snapshots": _ids(ec2.describe_snapshots(OwnerIds=["self"])["Snapshots"], "SnapshotId"),
        "images": _ids(ec2.describe_images(Owners=["self"])["Images"], "ImageId"),
    }


def _ids(resources: list[dict[str, Any]], key: str) -> frozenset[str]:
    return frozenset(str(resource[key]) for resource in resources)


def _mounts(process: psutil.Process, folder: Path) -> list[str]:
    """The mounts of a process below a folder; guests' are in a namespace of their own."""
    try:
        lines = Path(f"/proc/{process.pid}/mountinfo").read_text().splitlines()
    except OSError:
        # It has ended meanwhile, and its namespace with it.
        return []
    points = [line.split()[4] for line in lines]
    return [point for point in points if point.startswith(str(folder)) and "/i-" in point]


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return ""
