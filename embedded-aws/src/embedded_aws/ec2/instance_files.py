"""Files that each instance has for itself, as the kernel and its AMI make them.

EC2 user guide, "Detect whether a host is an EC2 instance": on Nitro instances the asset tag of the
board is the instance id. Those on Xen have no board; the UUIDs of hypervisor and system begin with
`ec2`. The kernel's dmi-id.c: everybody may read the tag. Docker's documentation: containers see the
host's /sys. A plug-in says at which file an AMI powers off, as a path unit of systemd does.
"""

from pathlib import Path
from typing import Any
from uuid import UUID

from embedded_aws.ec2.instance_types import require
from embedded_aws.plugins import find_for_ami

# Of the kernel's devices, below the folder of an instance's files.
SYS_CLASS = "sys/class"
# The variable with that folder, for processes that see this machine's files in its place.
VARIABLE = "EMBEDDED_AWS_NODE"
_ASSET_TAG = f"{SYS_CLASS}/dmi/id/board_asset_tag"
_UUIDS = "sys/hypervisor/uuid", f"{SYS_CLASS}/dmi/id/product_uuid"
_EVERYONE = 0o1777


def instance_files(instance: Any, disk: Path) -> Path:
    """Return a folder with files of moto's instance, each by its path there.

    Args:
        instance: moto's.
        disk: folder for what the instance has.
    """
    root = disk / "root"
    for path, identity in _identities(instance).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{identity}\n")
    if mark := _power_off_mark(instance, root):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.parent.chmod(_EVERYONE)
    return root


def powers_off(instance: Any, disk: Path) -> bool:
    """Return whether the file is there at which moto's instance powers itself off."""
    mark = _power_off_mark(instance, disk / "root")
    return mark is not None and mark.exists()


def _identities(instance: Any) -> dict[str, str]:
    """Return what says of moto's instance that it is one, by its path."""
    # Types of bare metal have no hypervisor.
    if require(instance.instance_type).get("Hypervisor") == "xen":
        uuid = UUID(f"ec2{instance.id.removeprefix('i-'):0<29}")
        return dict.fromkeys(_UUIDS, str(uuid))
    return {_ASSET_TAG: instance.id}


def _power_off_mark(instance: Any, root: Path) -> Path | None:
    path = find_for_ami(instance, lambda plugin: plugin.power_off_marks())
    return root / path.lstrip("/") if path else None
