"""Lustre file systems.

FSx API reference: DNSName, MountName (`fsx` on SCRATCH_1, else eight letters and digits), what
Describe returns (not the security groups), which updates exist (capacity and metadata IOPS only
grow; the throughput of an EFA-enabled file system is fixed; SCRATCH_1 does not grow). A file
system's network interfaces hold its subnet and its security groups. Inferred: AUTOMATIC metadata
IOPS by capacity; one interface for the metadata server and one per 1,200 GiB.
"""

import hashlib
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.fsx.lustre import (
    FileSystemParams,
    bad_request,
    check_lustre,
    default_version,
    deployment_type,
)
from embedded_aws.fsx.lustre_network import lustre_network
from embedded_aws.fsx.networks import Network
from embedded_aws.fsx.stored_file_system import StoredFileSystem

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class LustreFileSystem(StoredFileSystem):
    """A Lustre file system."""

    file_system_type = "LUSTRE"
    name = "Lustre"
    configuration = "LustreConfiguration"

    @staticmethod
    def check(params: FileSystemParams) -> None:
        """Refuse properties."""
        check_lustre(params)

    @staticmethod
    def network(call: Call) -> Network:
        """Return the network of a new file system."""
        return lustre_network(call)

    def _servers(self) -> int:
        return 1 + -(-int(self.params.get("StorageCapacity", 0)) // 1200)  # inferred

    @property
    def mount_name(self) -> str:
        """The mount name, derived from the id."""
        if deployment_type(self.params) == "SCRATCH_1":
            return "fsx"
        digest = hashlib.sha256(self.file_system_id.encode()).digest()
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:8])

    def to_dict(self) -> dict[str, Any]:
        """Return the file system as DescribeFileSystems does."""
        version = self.params.get("FileSystemTypeVersion", default_version(self.params))
        return {**super().to_dict(), "FileSystemTypeVersion": version}

    def _configured(self) -> dict[str, Any]:
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
        return lustre

    def check_update(self, after: FileSystemParams) -> None:
        """Refuse an update."""
        before = self.params
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
