"""FSx for Lustre file systems; other kinds are moto's.

FSx API reference: DNSName, MountName (`fsx` on SCRATCH_1, else eight letters and digits), what
Describe returns (not the security groups), which updates exist (capacity and metadata IOPS only
grow; the throughput of an EFA-enabled file system is fixed; SCRATCH_1 does not grow). A file
system's network interfaces hold its subnet and its security groups. Inferred: AUTOMATIC metadata
IOPS by capacity; one interface for the metadata server and one per 2,400 GiB. A new file system is
AVAILABLE at once.
"""

import hashlib
import time
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, action, existing
from embedded_aws.fsx.lustre import (
    FileSystemParams,
    bad_request,
    check_lustre,
    default_version,
    deployment_type,
    storage_type,
)
from embedded_aws.fsx.lustre_network import check_network
from embedded_aws.fsx.tables import associations

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class StoredFileSystem:
    """A Lustre file system, stored in moto's own list for Describe, tags and backups.

    Attributes:
        params: of CreateFileSystem, with later updates.
    """

    file_system_type = "LUSTRE"

    def __init__(self, call: Call, interface_ids: list[str], vpc_id: str) -> None:
        self.params: dict[str, Any] = dict(call.params)
        self.file_system_id = f"fs-{mock_random.get_random_hex(17)}"
        self.resource_arn = call.arn("fsx", f"file-system/{self.file_system_id}")
        self.interface_ids = interface_ids
        self._owner = call.account
        self._vpc_id = vpc_id
        self._dns_name = f"{self.file_system_id}.fsx.{call.region}.amazonaws.com"
        self._created = time.time()
        self._backend = call.backend("fsx")

    @property
    def mount_name(self) -> str:
        """The mount name, derived from the id."""
        if deployment_type(self.params) == "SCRATCH_1":
            return "fsx"
        digest = hashlib.sha256(self.file_system_id.encode()).digest()
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:8])

    def to_dict(self) -> dict[str, Any]:
        """Return the file system as DescribeFileSystems does."""
        given = self.params.get("LustreConfiguration", {})
        lustre = {
            "WeeklyMaintenanceStartTime": "1:00:00",
            "DataCompressionType": "NONE",
            "EfaEnabled": False,
            **{key: value for key, value in given.items() if not key.endswith("Path")},
            "DeploymentType": deployment_type(self.params),
            "MountName": self.mount_name,
        }
        if metadata := given.get("MetadataConfiguration"):
            iops = _metadata_iops(self.params)
            lustre["MetadataConfiguration"] = {"Mode": metadata["Mode"], "Iops": iops}
        if "ImportPath" in given:
            lustre["DataRepositoryConfiguration"] = {
                "Lifecycle": "AVAILABLE",
                "ImportPath": given["ImportPath"],
                "ExportPath": given.get("ExportPath"),
                "AutoImportPolicy": lustre.pop("AutoImportPolicy", "NONE"),
                "ImportedFileChunkSize": lustre.pop("ImportedFileChunkSize", 1024),
            }
        described = {
            "OwnerId": self._owner,
            "CreationTime": self._created,
            "FileSystemId": self.file_system_id,
            "FileSystemType": self.file_system_type,
            "Lifecycle": "AVAILABLE",
            "StorageCapacity": self.params.get("StorageCapacity"),
            "StorageType": storage_type(self.params),
            "VpcId": self._vpc_id,
            "SubnetIds": self.params["SubnetIds"],
            "NetworkInterfaceIds": self.interface_ids,
            "DNSName": self._dns_name,
            "KmsKeyId": self.params.get("KmsKeyId"),
            "ResourceARN": self.resource_arn,
            "Tags": self._backend.list_tags_for_resource(self.resource_arn),
            "LustreConfiguration": lustre,
            "FileSystemTypeVersion": self.params.get(
                "FileSystemTypeVersion", default_version(self.params)
            ),
        }
        return {key: value for key, value in described.items() if value is not None}


def _metadata_iops(params: FileSystemParams) -> int:
    """Return the metadata IOPS of a file system with a metadata configuration."""
    given = params["LustreConfiguration"]["MetadataConfiguration"].get("Iops")
    return given or _automatic_iops(params["StorageCapacity"])


def _automatic_iops(capacity_gib: int) -> int:
    """Return the metadata IOPS that FSx provisions in AUTOMATIC mode."""
    ladder = {1200: 1500, 2400: 3000, 9600: 6000, 45600: 12000}
    for most_gib, iops in ladder.items():
        if capacity_gib <= most_gib:
            return iops
    return 12000 * (capacity_gib // 24000)


def find(call: Call, file_system_id: str) -> Any:
    """Return a file system of moto's list.

    Raises:
        Refusal: there is none.
    """
    found = call.backend("fsx").file_systems.get(file_system_id)
    message = f"File system '{file_system_id}' does not exist."
    return existing(found, "FileSystemNotFound", message)


@action("fsx", "CreateFileSystem")
def create_file_system(call: Call) -> Any:
    """Create a file system; the same ClientRequestToken returns the same one."""
    if call.params["FileSystemType"] != "LUSTRE":
        return call.moto()
    tokens = call.state("fsx", "tokens", dict[str, StoredFileSystem])
    token = call.params.get("ClientRequestToken")
    if token in tokens:
        if tokens[token].params != call.params:
            raise Refusal(
                "IncompatibleParameterError",
                "The client request token was used before with different parameters.",
            )
        return {"FileSystem": tokens[token].to_dict()}
    check_lustre(call.params)
    subnet, groups = check_network(
        call,
        call.params["SubnetIds"],
        call.params.get("SecurityGroupIds", []),
        efa=bool(call.params.get("LustreConfiguration", {}).get("EfaEnabled")),
    )
    servers = 1 + -(-call.params.get("StorageCapacity", 0) // 1200)  # inferred
    ec2 = call.backend("ec2")
    interfaces = [
        ec2.create_network_interface(
            subnet, subnet.get_available_subnet_ip(None), group_ids=[group.id for group in groups]
        )
        for _ in range(servers)
    ]
    created = StoredFileSystem(call, [interface.id for interface in interfaces], subnet.vpc_id)
    for interface in interfaces:
        interface.description = f"Amazon FSx for Lustre file system {created.file_system_id}"
        interface.requester_managed = True
    backend = call.backend("fsx")
    backend.file_systems[created.file_system_id] = created
    backend.tag_resource(
        created.resource_arn, {tag["Key"]: tag["Value"] for tag in call.params.get("Tags", [])}
    )
    if token:
        tokens[token] = created
    return {"FileSystem": {**created.to_dict(), "Lifecycle": "CREATING"}}


@action("fsx", "DescribeFileSystems")
def describe_file_systems(call: Call) -> Any:
    """Describe file systems; an unknown id is refused."""
    for file_system_id in call.params.get("FileSystemIds", []):
        find(call, file_system_id)
    return call.moto()


@action("fsx", "UpdateFileSystem")
def update_file_system(call: Call) -> dict[str, Any]:
    """Change a Lustre file system, at once."""
    found = find(call, call.params["FileSystemId"])
    if not isinstance(found, StoredFileSystem):
        raise bad_request("the embedded AWS updates Lustre file systems only.")
    before, changes = found.params, call.params.get("LustreConfiguration", {})
    after = {
        **before,
        **{
            key: call.params[key]
            for key in ("StorageCapacity", "FileSystemTypeVersion")
            if key in call.params
        },
        "LustreConfiguration": {**before.get("LustreConfiguration", {}), **changes},
    }
    _check_update(before, after)
    check_lustre(after)
    found.params = after
    return {"FileSystem": found.to_dict()}


def _check_update(before: FileSystemParams, after: FileSystemParams) -> None:
    grown = after.get("StorageCapacity", 0) - before.get("StorageCapacity", 0)
    if grown < 0:
        raise bad_request(
            f"Storage capacity {after['StorageCapacity']} GiB must be greater than the current "
            f"{before['StorageCapacity']} GiB."
        )
    if grown and deployment_type(before) == "SCRATCH_1":
        raise bad_request("The storage capacity of SCRATCH_1 file systems cannot be increased.")
    old, new = before.get("LustreConfiguration", {}), after["LustreConfiguration"]
    throughput = "PerUnitStorageThroughput"
    if old.get("EfaEnabled") and old.get(throughput) != new.get(throughput):
        raise bad_request("The throughput of an EFA-enabled file system cannot be changed.")
    if "MetadataConfiguration" in new:
        if "MetadataConfiguration" not in old:
            raise bad_request("A metadata configuration can be chosen at creation only.")
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/switch-provisioning-mode.html
        iops, current = _metadata_iops(after), _metadata_iops(before)
        if iops < current:
            raise bad_request(
                f"Metadata IOPS {iops} must be greater than or equal to the current {current}: "
                "downscaling Metadata IOPS is not supported."
            )
    version = after.get("FileSystemTypeVersion", default_version(after))
    if version < before.get("FileSystemTypeVersion", default_version(before)):
        raise bad_request("FileSystemTypeVersion can only be raised.")


@action("fsx", "DeleteFileSystem")
def delete_file_system(call: Call) -> Any:
    """Delete a file system, its network interfaces and its associations."""
    found = find(call, call.params["FileSystemId"])
    if isinstance(found, StoredFileSystem):
        for interface_id in found.interface_ids:
            call.backend("ec2").get_network_interface(interface_id).delete()
        for association_id, association in list(associations(call).items()):
            if association["FileSystemId"] == found.file_system_id:
                del associations(call)[association_id]
    return call.moto()
