"""The scratch space of an instance, where its AMI mounts it, if a plug-in says where.

EC2 user guide, "Instance store": it is there while the instance runs, and lost when the instance
stops or ends; all that runs on the instance shares it. Where a type has none, scratch space may be
on volumes of EBS that an instance is launched with beside its root.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedded_aws.ec2.instance_types import require
from embedded_aws.plugins import find_for_ami

_FOLDER = "instance-store"
_EVERYONE = 0o1777


def mounted_store(instance: Any, disk: Path) -> Mapping[str, Path]:
    """Return the folder of the scratch space of moto's instance, by where it is mounted.

    Args:
        instance: moto's.
        disk: folder for the instance's files.
    """
    path = find_for_ami(instance, lambda plugin: plugin.instance_store_mounts())
    has_store = "InstanceStorageInfo" in require(instance.instance_type)
    if path is None or not (has_store or len(instance.block_device_mapping) > 1):
        return {}
    store = disk / _FOLDER
    store.mkdir(exist_ok=True)
    store.chmod(_EVERYONE)
    return {path: store}
