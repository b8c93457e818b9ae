"""GDRCopy's driver `gdrdrv` and its device.

Follows the service script of GDRCopy's packages: the device has the driver's major number and minor
0, and everybody may use it, as they may NVIDIA's own.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from trainshed_node.errors import NodeError
from trainshed_node.system import run

DEVICE = Path("/dev/gdrdrv")
_DRIVER = "gdrdrv"
_DEVICES = Path("/proc/devices")
_EVERYBODY = 0o666


def make_device() -> None:
    """Load the driver, make its device unless it is there, and let everybody use it.

    Raises:
        NodeError: the driver cannot be loaded.
    """
    done = run("modprobe", _DRIVER)
    if not done.ok:
        raise NodeError("gdrcopy", f"modprobe {_DRIVER}: {done.last_line}; see dmesg")
    number = _number()
    if number is None:
        raise NodeError(
            "gdrcopy", f"{_DRIVER} is loaded and has no number in {_DEVICES}; see dmesg"
        )
    if not _is_there(number):
        DEVICE.unlink(missing_ok=True)
        os.mknod(DEVICE, stat.S_IFCHR, number)
    DEVICE.chmod(_EVERYBODY)


def device_is_good() -> bool:
    """Return whether the device is that of the loaded driver, and open to every user."""
    number = _number()
    return (
        number is not None
        and _is_there(number)
        and stat.S_IMODE(DEVICE.stat().st_mode) == _EVERYBODY
    )


def _is_there(number: int) -> bool:
    return DEVICE.is_char_device() and DEVICE.stat().st_rdev == number


def _number() -> int | None:
    """The device number of the loaded driver; None when it is not loaded."""
    for line in _DEVICES.read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[1:] == [_DRIVER]:
            return os.makedev(int(words[0]), 0)
    return None
