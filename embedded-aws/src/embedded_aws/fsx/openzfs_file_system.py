"""OpenZFS file systems in one zone, and their root volumes.

FSx API reference: automatic backups are kept for 30 days by default; a root volume has records of
128 KiB and no compression by default. FSx for OpenZFS user guide, "Managing SSD storage capacity":
a capacity grows by 10 percent at least, and six hours after it grew last. Inferred: two network
interfaces of a file system with a standby; the NFS exports of a root volume without any given.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call
from embedded_aws.clock import now
from embedded_aws.fsx.lustre import FileSystemParams, bad_request
from embedded_aws.fsx.networks import Network
from embedded_aws.fsx.openzfs import automatic_iops, check_openzfs
from embedded_aws.fsx.openzfs_network import openzfs_network
from embedded_aws.fsx.stored_file_system import StoredFileSystem

_LEAST_GROWTH = 1.1
_BETWEEN_GROWTHS = timedelta(hours=6)
_EVERYBODY = {"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "crossmnt"]}]}


class OpenZfsFileSystem(StoredFileSystem):
    """An OpenZFS file system.

    Attributes:
        volume_id: of its root volume, `fsvol-...`.
        volume_arn: of its root volume.
        volume: configuration of its root volume.
    """

    file_system_type = "OPENZFS"
    name = "OpenZFS"
    configuration = "OpenZFSConfiguration"
    keeps_backups_days = 30
    skips_final_backup = False

    def __init__(self, call: Call, network: Network) -> None:
        super().__init__(call, network)
        self.volume_id = f"fsvol-{mock_random.get_random_hex(17)}"
        self.volume_arn = call.arn("fsx", f"volume/{self.file_system_id}/{self.volume_id}")
        self.volume: dict[str, Any] = {
            "VolumePath": "/fsx",
            "RecordSizeKiB": 128,
            "DataCompressionType": "NONE",
            "CopyTagsToSnapshots": False,
            "ReadOnly": False,
            "NfsExports": [_EVERYBODY],
            **self.given("RootVolumeConfiguration", {}),
        }
        self._grew: datetime | None = None

    @staticmethod
    def check(params: FileSystemParams) -> None:
        """Refuse properties."""
        check_openzfs(params)

    @staticmethod
    def network(call: Call) -> Network:
        """Return the network of a new file system."""
        return openzfs_network(call)

    def _servers(self) -> int:
        return 2 if "_HA_" in self.given("DeploymentType") else 1  # inferred

    def _configured(self) -> dict[str, Any]:
        given = self.params["OpenZFSConfiguration"]
        iops = given.get("DiskIopsConfiguration", {"Mode": "AUTOMATIC"})
        automatic = automatic_iops(self.params["StorageCapacity"], given["DeploymentType"])
        return {
            "AutomaticBackupRetentionDays": self.keeps_backups_days,
            "CopyTagsToBackups": False,
            "CopyTagsToVolumes": False,
            "DailyAutomaticBackupStartTime": "05:00",
            "WeeklyMaintenanceStartTime": "1:00:00",
            **{key: part for key, part in given.items() if key != "RootVolumeConfiguration"},
            "DiskIopsConfiguration": {"Iops": automatic, **iops},
            "RootVolumeId": self.volume_id,
        }

    def check_update(self, after: FileSystemParams) -> None:
        """Refuse an update."""
        current, wanted = self.params["StorageCapacity"], after["StorageCapacity"]
        if wanted == current:
            return
        if wanted < current * _LEAST_GROWTH:
            raise bad_request(
                f"Storage capacity {wanted} GiB must be at least 10 percent greater than the "
                f"current {current} GiB."
            )
        if self._grew and now() < self._grew + _BETWEEN_GROWTHS:
            raise bad_request("Storage capacity increases must be at least six hours apart.")

    def change(self, after: dict[str, Any]) -> None:
        """Take other properties."""
        if after["StorageCapacity"] > self.params["StorageCapacity"]:
            self._grew = now()
        super().change(after)

    def root_volume(self) -> dict[str, Any]:
        """Return the root volume as DescribeVolumes does."""
        return {
            "CreationTime": self.created.timestamp(),
            "FileSystemId": self.file_system_id,
            "Lifecycle": "AVAILABLE",
            "Name": "fsx",
            "OpenZFSConfiguration": self.volume,
            "ResourceARN": self.volume_arn,
            "Tags": self._backend.list_tags_for_resource(self.volume_arn),
            "VolumeId": self.volume_id,
            "VolumeType": "OPENZFS",
        }

    def change_volume(self, changes: Mapping[str, Any]) -> None:
        """Change the configuration of the root volume."""
        self.volume.update(changes)
