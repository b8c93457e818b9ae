"""A control group for each guest: systemd in a guest treats its own as a machine's root group.

Guests that shared one would wait for, and kill, each other's services. There is one folder
for all guests of a confinement, below the group of this process, in each hierarchy that systemd
uses: the unified one, and on hybrid machines the one named `systemd`.
"""

import os
from pathlib import Path

_NAMED = "name=systemd"
# Joins the groups whose files come before `--`, then runs the command after it.
_JOIN = 'while [ "$1" != -- ]; do echo $$ >"$1"; shift; done; shift; exec "$@"'


class ControlGroups:
    """The groups of the guests of one confinement.

    Args:
        name: of the folder, used by nobody else.
    """

    def __init__(self, name: str) -> None:
        self.folders = tuple(group / name for group in _own_groups())
        for folder in self.folders:
            folder.mkdir()

    def command(self, guest: str, command: list[str]) -> list[str]:
        """Create a guest's groups; return the prefix for a command that runs in them."""
        for folder in self.folders:
            (folder / guest).mkdir(exist_ok=True)
        joined = [str(folder / guest / "cgroup.procs") for folder in self.folders]
        return ["sh", "-c", _JOIN, "sh", *joined, "--", *command]

    def remove(self, guest: str) -> None:
        """Remove the groups of a guest that is off, if any."""
        for folder in self.folders:
            for path, _, _ in os.walk(folder / guest, topdown=False):
                Path(path).rmdir()


def _own_groups() -> list[Path]:
    """Return the folders of this process's groups in the hierarchies that systemd uses."""
    groups = dict(
        line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines()
    )
    found = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        # proc(5): ... root, mount point, ... - type, source, options of the superblock.
        before, after = line.split(" - ")
        root, place = before.split()[3:5]
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup2":
            group = groups.get("")
        elif kind == "cgroup" and _NAMED in options.split(","):
            group = groups.get(_NAMED)
        else:
            continue
        if group is not None:
            found.append(Path(place) / os.path.relpath(group, root))
    return found
