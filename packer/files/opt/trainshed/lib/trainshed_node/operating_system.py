"""What the operating system of the AMI is."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from trainshed_node.system import run

_GIB = 1024**3


def operating_system() -> dict[str, str]:
    """Return the distribution, kernel, architecture, disk use and time to boot, as text.

    The time is that from the kernel's start until systemd had started everything; none while it
    still starts something.
    """
    # os-release is shell assignments; freedesktop.org's platform.freedesktop_os_release is 3.10.
    written = Path("/etc/os-release").read_text(encoding="utf-8")
    release = dict(assignment.split("=", 1) for assignment in shlex.split(written, comments=True))
    disk = shutil.disk_usage("/")
    booted = run("systemctl", "show", "--property=FinishTimestampMonotonic", "--value").output
    found = {
        "distribution": release.get("PRETTY_NAME", release.get("ID", "")),
        "kernel": run("uname", "-r").output.strip(),
        "architecture": run("uname", "-m").output.strip(),
        "disk": f"{disk.used / _GIB:.1f} of {disk.total / _GIB:.1f} GiB used",
    }
    if (microseconds := booted.strip()).isdigit() and int(microseconds):
        found["boot"] = f"{int(microseconds) / 1e6:.1f} s"
    return found
