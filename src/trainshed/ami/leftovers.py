"""What a build that was killed has left in the account: found by its tags and its log, removed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from trainshed.ami.ami import BUILD_TAG, build_moment, find_ami
from trainshed.aws import AwsRefusal, Region

_OURS = [{"Name": "tag:trainshed:role", "Values": ["ami-builder"]}]
_ENDED = re.compile(r"^(?:\S+Z: )?Build '.*' (?:errored|finished)", re.MULTILINE)
# Older Packer tags neither key pair nor group nor role; it says their names.
_SAID = {
    # Older Packer tags it only after the copies to other regions are made.
    "AMI": re.compile(r" AMI: (ami-[0-9a-f]+)"),
    "instance": re.compile(r"Instance ID: (i-[0-9a-f]+)"),
    "key pair": re.compile(r"Creating temporary keypair: (packer_[\w-]+)"),
    "security group": re.compile(r"Creating temporary security group .*: (packer_[\w-]+)"),
    "instance profile": re.compile(r"Creating temporary instance profile .*: (packer-[\w-]+)"),
}
_GONE = re.compile(r"\.NotFound$|^NoSuchEntity$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One resource that a dead build has left.

    Attributes:
        kind: `AMI`, `instance`, `key pair`, `security group`, `volume` or `instance profile`.
        name: its id, or the name of a key pair or an instance profile.
    """

    kind: str
    name: str

    def __str__(self) -> str:
        """Return for instance `instance i-0123456789abcdef0`."""
        return f"{self.kind} {self.name}"


def tagged_leftovers(region: Region, *, now: datetime, older_than: timedelta) -> list[Leftover]:
    """Return what trainshed builds of anyone in the account have left.

    Args:
        region: where.
        now: the present, in UTC.
        older_than: what is younger may belong to a build that runs.

    Raises:
        AwsRefusal: AWS does not let us look.
    """
    found: list[Leftover] = []

    def old(entry: dict[str, Any]) -> bool:
        stamp = next((t["Value"] for t in entry.get("Tags", []) if t["Key"] == BUILD_TAG), "")
        born = build_moment(stamp)
        return born is not None and now - born > older_than

    def add(kind: str, name: str) -> None:
        if (one := Leftover(kind=kind, name=name)) not in found:
            found.append(one)

    for instance in filter(old, _instances(region)):
        if instance["State"]["Name"] != "terminated":
            add("instance", instance["InstanceId"])
            for kind, name in _temporary(instance):
                add(kind, name)
    for service, operation, key, kind, name in (
        ("ec2", "describe_volumes", "Volumes", "volume", "VolumeId"),
        ("ec2", "describe_security_groups", "SecurityGroups", "security group", "GroupId"),
    ):
        for entry in filter(old, region.pages(service, operation, key, Filters=_OURS)):
            # A volume in use goes with its instance.
            if not entry.get("Attachments"):
                add(kind, entry[name])
    for entry in filter(old, region.call("ec2", "describe_key_pairs", Filters=_OURS)["KeyPairs"]):
        add("key pair", entry["KeyName"])
    return found


def logged_leftovers(region: Region, log: str) -> list[Leftover]:
    """Return what the build of a log has left, when the log has no end.

    Args:
        region: where it was built.
        log: all that Packer said; nothing may be writing it any more.

    Raises:
        AwsRefusal: AWS does not let us look.
    """
    last = [match.end() for match in _ENDED.finditer(log)]
    rest = log[last[-1] :] if last else log
    found = [
        Leftover(kind=kind, name=name)
        for kind, pattern in _SAID.items()
        for name in dict.fromkeys(pattern.findall(rest))
    ]
    return list(chain.from_iterable(_existing(region, leftover) for leftover in found))


def remove_leftover(region: Region, leftover: Leftover) -> None:
    """Remove one leftover; one that is gone is not an error.

    Raises:
        AwsRefusal: AWS refuses.
    """
    try:
        match leftover.kind:
            case "AMI":
                _remove_ami(region, leftover.name)
            case "instance":
                region.call("ec2", "terminate_instances", InstanceIds=[leftover.name])
                # It holds its security groups until then.
                region.wait("ec2", "instance_terminated", InstanceIds=[leftover.name])
            case "key pair":
                region.call("ec2", "delete_key_pair", KeyName=leftover.name)
            case "security group":
                region.call("ec2", "delete_security_group", GroupId=leftover.name)
            case "volume":
                region.call("ec2", "delete_volume", VolumeId=leftover.name)
            case _:
                _remove_profile(region, leftover.name)
    except AwsRefusal as error:
        if not _GONE.search(error.code):
            raise


def _instances(region: Region) -> Iterator[dict[str, Any]]:
    for reservation in region.pages("ec2", "describe_instances", "Reservations", Filters=_OURS):
        yield from reservation["Instances"]


def _temporary(instance: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what Packer made for an instance; its names begin with packer."""
    if instance.get("KeyName", "").startswith("packer_"):
        yield "key pair", instance["KeyName"]
    for group in instance.get("SecurityGroups", []):
        if group["GroupName"].startswith("packer_"):
            yield "security group", group["GroupId"]
    profile = instance.get("IamInstanceProfile", {}).get("Arn", "").rpartition("/")[2]
    if profile.startswith("packer-"):
        yield "instance profile", profile


def _existing(region: Region, said: Leftover) -> Iterator[Leftover]:
    """Yield the leftover, ready to be removed, if it exists."""
    try:
        match said.kind:
            case "AMI":
                if find_ami(region, said.name):
                    yield said
            case "instance":
                answer = region.call("ec2", "describe_instances", InstanceIds=[said.name])
                for reservation in answer["Reservations"]:
                    if reservation["Instances"][0]["State"]["Name"] != "terminated":
                        yield said
            case "key pair":
                region.call("ec2", "describe_key_pairs", KeyNames=[said.name])
                yield said
            case "security group":
                groups = region.call(
                    "ec2",
                    "describe_security_groups",
                    Filters=[{"Name": "group-name", "Values": [said.name]}],
                )
                for group in groups["SecurityGroups"]:
                    yield Leftover(kind=said.kind, name=group["GroupId"])
            case _:
                region.call("iam", "get_instance_profile", InstanceProfileName=said.name)
                yield said
    except AwsRefusal as error:
        if not _GONE.search(error.code):
            raise


def _remove_ami(region: Region, image_id: str) -> None:
    if ami := find_ami(region, image_id):
        region.call("ec2", "deregister_image", ImageId=image_id)
        for snapshot in ami.snapshots:
            region.call("ec2", "delete_snapshot", SnapshotId=snapshot)


def _remove_profile(region: Region, name: str) -> None:
    """Remove an instance profile with the role that it was made for, which has the same name."""
    profile = region.call("iam", "get_instance_profile", InstanceProfileName=name)
    for role in profile["InstanceProfile"]["Roles"]:
        region.call(
            "iam",
            "remove_role_from_instance_profile",
            InstanceProfileName=name,
            RoleName=role["RoleName"],
        )
    region.call("iam", "delete_instance_profile", InstanceProfileName=name)
    for policy in region.pages("iam", "list_role_policies", "PolicyNames", RoleName=name):
        region.call("iam", "delete_role_policy", RoleName=name, PolicyName=policy)
    region.call("iam", "delete_role", RoleName=name)
