"""The client of FSx for OpenZFS: the kernel's NFS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainshed_node.storage_client import StorageClient


class OpenZfsClient(StorageClient):
    """Mounts a volume of an FSx for OpenZFS file system.

    Follows the FSx for OpenZFS user guide, "Mounting your file systems", and its advice on
    `nconnect`: several TCP connections, since EC2 limits the throughput of one. Without the
    guide's `sync`, with which each write waits for the server; `fsync` waits for it anyway.
    """

    component = "nfs-client"
    programs: ClassVar[Mapping[str, str]] = {"mount.nfs": "NFS client"}
    file_system_type = "nfs"
    options = "nfsvers=4.2,nconnect=16,rsize=1048576,wsize=1048576,timeo=600,noatime,_netdev"

    def source(self, values: Mapping[str, str]) -> str:
        """Return the volume by its server and its path there."""
        return f"{values['dns_name']}:{values['volume_path']}"
