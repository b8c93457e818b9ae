"""Kernel limits of this machine that are raised for guests.

systemd and its services take about ten inotify instances in each guest, all of them counted as
root's, of which distributions allow 128. A guest without them hangs at boot or does not start.
"""

from pathlib import Path

_INOTIFY_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
# A usual value for hosts of many containers.
_ENOUGH_INSTANCES = 1024


def raise_limits() -> None:
    """Raise the limits that are too low for guests; never lower one."""
    if int(_INOTIFY_INSTANCES.read_text()) < _ENOUGH_INSTANCES:
        _INOTIFY_INSTANCES.write_text(f"{_ENOUGH_INSTANCES}\n")
