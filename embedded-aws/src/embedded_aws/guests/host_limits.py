"""Limits of this machine that several guests would reach, and that are raised for them.

systemd and its services take about ten inotify instances in each guest, all of them counted as
root's, of which distributions allow 128. A guest without them hangs at boot or does not start.
"""

from pathlib import Path

_INOTIFY_INSTANCES = Path("/proc/sys/fs/inotify/max_user_instances")
# As is common for hosts of many containers.
_ENOUGH_INSTANCES = 1024


def raise_limits() -> None:
    """Raise what is too low for guests; never lower anything."""
    if int(_INOTIFY_INSTANCES.read_text()) < _ENOUGH_INSTANCES:
        _INOTIFY_INSTANCES.write_text(f"{_ENOUGH_INSTANCES}\n")
