"""What the operating system of the image is."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from trainshed_image.system import run

_GIB = 1024**3


def system_facts() -> dict[str, str]:
    """Return name and release of the distribution, kernel, architecture and disk use, as text."""
    # os-release is shell assignments; freedesktop.org's platform.freedesktop_os_release is 3.10.
    written = Path("/etc/os-release").read_text(encoding="utf-8")
    release = dict(assignment.split("=", 1) for assignment in shlex.split(written, comments=True))
    disk = shutil.disk_usage("/")
    return {
        "distribution": release.get("PRETTY_NAME", release.get("ID", "")),
        "kernel": run("uname", "-r").output.strip(),
        "architecture": run("uname", "-m").output.strip(),
        "disk": f"{disk.used / _GIB:.1f} of {disk.total / _GIB:.1f} GiB used",
    }
