"""Which disk of this machine is the volume of EBS that the launch template gives a device name.

EC2 user guide, "Device names for volumes": on instances of the Nitro System volumes are NVMe disks
in any order; each tells its device name itself. On Xen the kernel calls /dev/sdf xvdf or sdf.
"""

from __future__ import annotations

import ctypes
import fcntl
from collections.abc import Sequence
from pathlib import Path

from trainshed_node.errors import NodeError

_BLOCKS = Path("/sys/block")
# EBS user guide, "Amazon EBS volumes and NVMe".
_MODEL = "Amazon Elastic Block Store"
# linux/nvme_ioctl.h: struct nvme_admin_cmd, and the request that sends one.
_ADMIN_COMMAND = 0xC0484E41
# NVM Express base specification, "Identify command": its opcode, the answer's size, the structure
# of a namespace and of the controller, and where what is specific to the vendor begins in each.
_IDENTIFY, _SIZE = 0x06, 4096
_NAMESPACE, _CONTROLLER = 0, 1
_VENDOR_SPECIFIC = {_NAMESPACE: 384, _CONTROLLER: 3072}
# It begins with the device name: ebsnvme-id of amazon-ec2-utils.
_NAME_SIZE = 32


class _AdminCommand(ctypes.Structure):
    _fields_ = (
        *(("opcode", ctypes.c_uint8), ("flags", ctypes.c_uint8), ("rsvd1", ctypes.c_uint16)),
        *(("nsid", ctypes.c_uint32), ("cdw2", ctypes.c_uint32), ("cdw3", ctypes.c_uint32)),
        *(("metadata", ctypes.c_uint64), ("addr", ctypes.c_uint64)),
        *(("metadata_len", ctypes.c_uint32), ("data_len", ctypes.c_uint32)),
        *((f"cdw{number}", ctypes.c_uint32) for number in range(10, 16)),
        *(("timeout_ms", ctypes.c_uint32), ("result", ctypes.c_uint32)),
    )


def volumes_named(device_names: Sequence[str]) -> list[Path]:
    """Return the disks of volumes by their place in /sys, in the order of the device names.

    Args:
        device_names: of the launch template, for instance `/dev/sdf`.

    Raises:
        NodeError: a volume is not there, or an NVMe disk of EBS does not tell its device name.
    """
    nvme = {
        _letters(device_name_of(f"/dev/{block.name}")): block
        for block in sorted(_BLOCKS.glob("nvme*"))
        if model_of(block) == _MODEL
    }
    found = [nvme.get(_letters(name)) or _kernel_disk(name) for name in device_names]
    disks = [block for block in found if block]
    if missing := [name for name, block in zip(device_names, found) if not block]:
        raise NodeError(
            ", ".join(missing),
            "this machine has no such volume of EBS; compare its block devices with those of the "
            "launch template",
        )
    return disks


def model_of(block: Path) -> str:
    """Return the model of a disk, or nothing where it tells none."""
    try:
        return (block / "device" / "model").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def device_name_of(disk: str) -> str:
    """Return the device name that an NVMe disk of EBS tells, for instance `/dev/sdf` or `sdf`.

    Raises:
        NodeError: it cannot be asked.
    """
    try:
        with Path(disk).open("rb") as device:
            for structure, namespace in ((_NAMESPACE, 1), (_CONTROLLER, 0)):
                answer = identify(device.fileno(), structure, namespace)
                start = _VENDOR_SPECIFIC[structure]
                name = answer[start : start + _NAME_SIZE].split(b"\0")[0].decode("ascii").strip()
                if name:
                    return name
    except (OSError, ValueError) as error:
        raise NodeError(disk, f"does not tell its device name ({error}); look at it") from None
    return ""


def identify(device: int, structure: int, namespace: int) -> bytes:
    """Ask an NVMe disk what it is.

    Args:
        device: file descriptor of the disk.
        structure: 0 for a namespace, 1 for the controller.
        namespace: its number; 0 for the controller.
    """
    answer = ctypes.create_string_buffer(_SIZE)
    command = _AdminCommand(
        opcode=_IDENTIFY,
        nsid=namespace,
        addr=ctypes.addressof(answer),
        data_len=_SIZE,
        cdw10=structure,
    )
    fcntl.ioctl(device, _ADMIN_COMMAND, command)
    return answer.raw


def _letters(name: str) -> str:
    """Return what is the same in `/dev/sdf`, `sdf` and `xvdf`, which EC2 takes for one device."""
    name = name.rpartition("/")[2]
    for prefix in ("xvd", "sd"):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def _kernel_disk(name: str) -> Path | None:
    letters = _letters(name)
    places = (_BLOCKS / (prefix + letters) for prefix in ("xvd", "sd"))
    return next((block for block in places if block.is_dir()), None)
