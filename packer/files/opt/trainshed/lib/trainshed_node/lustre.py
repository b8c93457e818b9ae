"""The client of FSx for Lustre."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainshed_node.lustre_efa import set_up_efa, tell_transport
from trainshed_node.lustre_tuning import set_module_options, tune_client
from trainshed_node.settings import Mount
from trainshed_node.storage_client import Log, StorageClient


class LustreClient(StorageClient):
    """Mounts an FSx for Lustre file system, over EFA if asked."""

    component = "lustre-client"
    programs: ClassVar[Mapping[str, str]] = {"mount.lustre": "Lustre client"}
    file_system_type = "lustre"
    # FSx for Lustre user guide, "Mounting automatically"; flock for what locks files.
    options = "noatime,flock,_netdev"

    def prepare(self, mount: Mount, log: Log) -> None:
        """Set what Lustre's modules read when they are loaded, and LNet."""
        set_module_options()
        if mount.efa_interfaces:
            set_up_efa(mount.path, mount.efa_interfaces, log)

    def source(self, values: Mapping[str, str]) -> str:
        """Return the file system by its server and its name there."""
        return f"{values['dns_name']}@tcp:/{values['mount_name']}"

    def tune(self, mount: Mount, log: Log) -> None:
        """Set what Lustre has only when it is mounted, and say how its servers are reached."""
        tune_client(mount.path, log)
        if mount.efa_interfaces:
            tell_transport(mount.path, log)
