"""Whether this machine can run guests, and why not."""

import os
import platform
import shutil
from pathlib import Path

from embedded_aws.errors import program
from embedded_aws.guests.recipe import prepared
from embedded_aws.guests.root_folder import default_roots

# Program, and its Debian package.
_PROGRAMS = {
    "systemd-nspawn": "systemd-container",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "flock": "util-linux",
    "mount": "mount",
}


def machine_cannot() -> str | None:
    """Return why guests cannot run on this machine, or None; prepared roots are not checked."""
    if platform.system() != "Linux":
        return f"guests need Linux, and this is {platform.system()}"
    if platform.machine() != "x86_64":
        return f"guests need an x86_64 machine, and this is {platform.machine()}"
    if os.geteuid() != 0:
        return "guests need root: run this as root, for instance with sudo"
    missing = sorted({package for name, package in _PROGRAMS.items() if not shutil.which(name)})
    if missing:
        return f"guests need Debian's {', '.join(missing)}: apt-get install {' '.join(missing)}"
    return None


def guests_unavailable(roots: Path | None = None) -> str | None:
    """Return why guests cannot run here and what to do, or None when they can.

    Args:
        roots: the folder of the roots; by default the usual one.
    """
    if reason := machine_cannot():
        return reason
    found = prepared(roots or default_roots())
    if not found.is_dir():
        return (
            f"there are no roots of this version in {found.parent}: "
            f"run {program.get()} guests prepare"
        )
    return None
