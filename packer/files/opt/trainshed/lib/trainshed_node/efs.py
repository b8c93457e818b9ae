"""The client of Amazon EFS: efs-utils, whose mounts go through TLS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainshed_node.storage_client import StorageClient


class EfsClient(StorageClient):
    """Mounts an EFS file system through its mount target in the node's zone.

    Follows the EFS user guide, "Mounting EFS file systems using the EFS mount helper". The helper
    adds the options of NFS that EFS needs, and watches the process that encrypts.
    """

    component = "efs-utils"
    programs: ClassVar[Mapping[str, str]] = {"mount.efs": "amazon-efs-utils"}
    file_system_type = "efs"
    options = "tls,noatime,_netdev"

    def source(self, values: Mapping[str, str]) -> str:
        """Return the root of the file system; the helper finds its address by the id."""
        return f"{values['file_system_id']}:/"
