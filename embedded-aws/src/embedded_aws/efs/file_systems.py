"""EFS file systems: their creation, throughput, protection and deletion.

EFS API reference: defaults (bursting, general purpose, not encrypted; One Zone file systems have
backups); a creation token makes one file system; Max I/O has neither elastic throughput nor one
zone; a key needs Encrypted and is symmetric; 1 to 3,414 MiB/s are provisioned; 24 hours pass
between changes of the mode, or decreases; no deletion while there are mount targets. EFS user
guide: an empty file system has 6 KiB. The words of FileSystemAlreadyExists: from memory; of
FileSystemInUse: github.com/rebuy-de/aws-nuke/issues/1203; of TooManyRequests:
github.com/ansible-collections/community.aws/pull/2026. A new file system is `available` at once.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, Table, action, existing
from embedded_aws.backup.recovery_points import take_due
from embedded_aws.clock import now
from embedded_aws.efs.calls import already_exists, bad_request, own_id, page

_MOST_MIBPS = 3414
_EMPTY_BYTES = 6144
_BETWEEN_CHANGES = timedelta(hours=24)
_THROUGHPUT = ("ThroughputMode", "ProvisionedThroughputInMibps")


@dataclass(slots=True, kw_only=True)
class FileSystem:
    """A file system, stored in moto's own list, in which IAM finds the tags of resources.

    Attributes:
        file_system_id: `fs-...`.
        file_system_arn: its ARN.
        row: what DescribeFileSystems returns and does not change by itself.
        lifecycle: the policies of its lifecycle configuration.
        backup: the status of its backup policy.
        policy: its policy, as JSON; None for the default one.
        changed: when its throughput mode was changed or its throughput decreased, if it was.
    """

    file_system_id: str
    file_system_arn: str
    row: dict[str, Any]
    lifecycle: list[dict[str, str]] = field(default_factory=list)
    backup: str
    policy: str | None = None
    changed: datetime | None = None


def find(call: Call, named: str) -> FileSystem:
    """Return the file system of an id or ARN.

    Raises:
        Refusal: there is none.
    """
    file_system_id = own_id(named)
    found: FileSystem | None = call.backend("efs").file_systems_by_id.get(file_system_id)
    message = f"File system '{file_system_id}' does not exist."
    return existing(found, "FileSystemNotFound", message)


def mount_targets(call: Call) -> Table:
    """Return all mount targets as DescribeMountTargets does, by id."""
    found: Table = call.backend("efs").mount_targets_by_id
    return found


def targets_of(call: Call, file_system: FileSystem) -> list[Row]:
    """Return the mount targets of a file system."""
    rows = mount_targets(call).values()
    return [row for row in rows if row["FileSystemId"] == file_system.file_system_id]


@action("efs", "CreateFileSystem")
def create_file_system(call: Call) -> dict[str, Any]:
    """Create a file system; a creation token makes only one."""
    params, token = call.params, call.params["CreationToken"]
    file_systems = call.backend("efs").file_systems_by_id
    for other in file_systems.values():
        if other.row["CreationToken"] == token:
            raise already_exists(
                "FileSystem",
                other.file_system_id,
                f"File system '{other.file_system_id}' already exists with creation token "
                f"'{token}'",
            )
    performance = params.get("PerformanceMode", "generalPurpose")
    zone = params.get("AvailabilityZoneName")
    throughput = _throughput(params)
    if performance == "maxIO" and (zone or throughput["ThroughputMode"] == "elastic"):
        raise bad_request(
            "The maxIO performance mode is not supported for One Zone file systems or file systems "
            "that use Elastic throughput."
        )
    file_system_id = f"fs-{mock_random.get_random_hex(17)}"
    encrypted = params.get("Encrypted", False)
    if "KmsKeyId" in params and not encrypted:
        raise bad_request("KmsKeyId is for file systems whose Encrypted is true only.")
    created = FileSystem(
        file_system_id=file_system_id,
        file_system_arn=call.arn("elasticfilesystem", f"file-system/{file_system_id}"),
        row={
            "OwnerId": call.account,
            "CreationToken": token,
            "CreationTime": now(),
            "PerformanceMode": performance,
            "Encrypted": encrypted,
            **({"KmsKeyId": _key(call, params.get("KmsKeyId"))} if encrypted else {}),
            **throughput,
            **(_zone(call, zone) if zone else {}),
            "FileSystemProtection": {"ReplicationOverwriteProtection": "ENABLED"},
        },
        backup="ENABLED" if params.get("Backup", zone is not None) else "DISABLED",
    )
    file_systems[file_system_id] = created
    call.backend("efs").tagging_service.tag_resource(file_system_id, params.get("Tags", []))
    return {**_described(call, created), "LifeCycleState": "creating"}


def _throughput(params: Any) -> dict[str, Any]:
    """Return the throughput that a call asks for.

    Raises:
        Refusal: the mode and the number do not go together.
    """
    mode = params.get("ThroughputMode", "bursting")
    provisioned = params.get("ProvisionedThroughputInMibps")
    if (mode == "provisioned") != (provisioned is not None):
        raise bad_request(
            "ProvisionedThroughputInMibps is required if ThroughputMode is set to provisioned, "
            "and only there."
        )
    if provisioned is None:
        return {"ThroughputMode": mode}
    if provisioned > _MOST_MIBPS:
        raise Refusal(
            "ThroughputLimitExceeded",
            f"ProvisionedThroughputInMibps {provisioned:g} exceeds the limit of {_MOST_MIBPS} "
            "MiB/s.",
        )
    return {"ThroughputMode": mode, "ProvisionedThroughputInMibps": provisioned}


def _key(call: Call, given: str | None) -> str:
    """Return the ARN of the key that encrypts a file system, by default EFS's own one."""
    kms = call.backend("kms")
    if given is None:
        # moto makes the keys of services when they are first asked for.
        return str(kms.describe_key("alias/aws/elasticfilesystem").arn)
    name = given.rpartition(":")[2].removeprefix("key/")
    key = kms.keys.get(kms.get_key_id_from_alias(name) if name.startswith("alias/") else name)
    if key is None or not key.enabled or key.key_spec != "SYMMETRIC_DEFAULT":
        raise bad_request(
            f"KmsKeyId {given} is not an enabled symmetric encryption key of this region."
        )
    return str(key.arn)


def _zone(call: Call, name: str) -> dict[str, str]:
    for zone in call.backend("ec2").describe_availability_zones():
        if zone.name == name:
            return {"AvailabilityZoneName": name, "AvailabilityZoneId": zone.zone_id}
    raise Refusal(
        "UnsupportedAvailabilityZone",
        f"The requested Amazon EFS functionality is not available in Availability Zone {name}.",
    )


@action("efs", "DescribeFileSystems")
def describe_file_systems(call: Call) -> dict[str, Any]:
    """Describe all file systems, or the one of an id or a creation token."""
    named, token = call.params.get("FileSystemId"), call.params.get("CreationToken")
    if named and token:
        raise bad_request("Request cannot contain both a file system ID and a creation token.")
    found = [find(call, named)] if named else call.backend("efs").file_systems_by_id.values()
    rows = [_described(call, each) for each in found if token in (None, each.row["CreationToken"])]
    return page(call, "FileSystems", rows)


def _described(call: Call, file_system: FileSystem) -> dict[str, Any]:
    tags = call.backend("efs").list_tags_for_resource(file_system.file_system_id)
    name = next((tag["Value"] for tag in tags if tag["Key"] == "Name"), None)
    return {
        **file_system.row,
        "FileSystemId": file_system.file_system_id,
        "FileSystemArn": file_system.file_system_arn,
        "LifeCycleState": "available",
        "NumberOfMountTargets": len(targets_of(call, file_system)),
        "SizeInBytes": {
            "Value": _EMPTY_BYTES,
            "ValueInStandard": _EMPTY_BYTES,
            "ValueInIA": 0,
            "ValueInArchive": 0,
        },
        "Tags": tags,
        **({} if name is None else {"Name": name}),
    }


@action("efs", "UpdateFileSystem")
def update_file_system(call: Call) -> dict[str, Any]:
    """Change the throughput of a file system, at once."""
    found = find(call, call.params["FileSystemId"])
    row = found.row
    if not set(_THROUGHPUT).intersection(call.params):
        raise bad_request("ThroughputMode or ProvisionedThroughputInMibps is required.")
    before = {name: row[name] for name in _THROUGHPUT if name in row}
    given = {name: call.params[name] for name in _THROUGHPUT if name in call.params}
    after = _throughput({"ThroughputMode": before["ThroughputMode"], **given})
    if after["ThroughputMode"] == "elastic" and row["PerformanceMode"] == "maxIO":
        raise bad_request(
            "Elastic throughput is not supported for file systems with the maxIO performance mode."
        )
    archives = any("TransitionToArchive" in policy for policy in found.lifecycle)
    if archives and after["ThroughputMode"] != "elastic":
        raise bad_request(
            "The Archive storage class is available only for file systems that use the Elastic "
            "throughput mode: remove TransitionToArchive from the lifecycle configuration first."
        )
    decreased = _provisioned(after) < _provisioned(before)
    if after["ThroughputMode"] != before["ThroughputMode"] or decreased:
        if found.changed and now() < found.changed + _BETWEEN_CHANGES:
            end = found.changed + _BETWEEN_CHANGES
            raise Refusal(
                "TooManyRequests",
                "You have reached the maximum number of throughput mode changes or provisioned "
                f"throughput value decreases. Wait until {end:%Y-%m-%dT%H:%M:%SZ} UTC and try "
                "again.",
            )
        found.changed = now()
    row.pop("ProvisionedThroughputInMibps", None)
    row.update(after)
    return _described(call, found)


def _provisioned(throughput: dict[str, Any]) -> float:
    return float(throughput.get("ProvisionedThroughputInMibps", 0))


@action("efs", "UpdateFileSystemProtection")
def update_file_system_protection(call: Call) -> dict[str, Any]:
    """Set whether a file system may be overwritten by a replication."""
    protection = find(call, call.params["FileSystemId"]).row["FileSystemProtection"]
    protection["ReplicationOverwriteProtection"] = call.params["ReplicationOverwriteProtection"]
    return dict(protection)


@action("efs", "DeleteFileSystem")
def delete_file_system(call: Call) -> dict[str, Any]:
    """Delete a file system without mount targets, and its access points."""
    found = find(call, call.params["FileSystemId"])
    if targets_of(call, found):
        raise Refusal(
            "FileSystemInUse",
            f"The file system '{found.file_system_id}' cannot be deleted because it has mount "
            "targets. You must delete the mount targets, and then try again.",
        )
    take_due(call)
    backend = call.backend("efs")
    del backend.file_systems_by_id[found.file_system_id]
    for point_id, point in list(backend.access_points.items()):
        if point.row["FileSystemId"] == found.file_system_id:
            del backend.access_points[point_id]
    return {}
