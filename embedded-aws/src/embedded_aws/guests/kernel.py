"""The kernel that a guest's boot loader would choose: the newest on the disk.

GRUB's default entry, which both distributions keep, is the newest kernel in /boot.
"""

import re
from pathlib import Path

_PREFIX = "vmlinuz-"


def chosen_kernel(boot: Path) -> str | None:
    """Return the release of the newest kernel in a folder, as `uname -r` prints it, or None."""
    releases = [
        file.name.removeprefix(_PREFIX) for file in boot.glob(f"{_PREFIX}*") if file.exists()
    ]
    return max(releases, key=_order, default=None)


def _order(release: str) -> list[tuple[int, str]]:
    """Compare as GRUB's `sort --version-sort` does: numbers by value, the rest by letters."""
    return [(int(number or -1), text) for number, text in re.findall(r"(\d+)|(\D+)", release)]
