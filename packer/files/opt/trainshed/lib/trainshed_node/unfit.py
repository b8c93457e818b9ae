"""The mark by which a job or the idle check says that this node is unfit.

The node powers off, and is replaced; in a reservation it reboots first, once.

Containers of jobs see the folder, and nothing else of the node by it: it is a file system of its
own, in memory, with room for little. Nobody reads the mark: what is in it does not matter. Another
file there has the same effect, so that no job leaves any for the next.
"""

from __future__ import annotations

from pathlib import Path

from trainshed_node.errors import NodeError
from trainshed_node.system import run

# As in trainshed.nodes.folders, of which job definitions let containers see the folder.
FOLDER = "/run/trainshed/unfit"
MARK = "mark"
_OPTIONS = "mode=1777,size=64k,nr_inodes=16,nosuid,nodev,noexec"
# Waits for the mark: trainshed-unfit.service then ends the node.
_UNIT = "trainshed-unfit.path"


def wait_for_mark() -> None:
    """Have this node go down when it is marked, from now on until the next boot.

    Raises:
        NodeError: jobs could not mark it, or nothing would see the mark.
    """
    folder = Path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    if not folder.is_mount():
        _must("mount", "-t", "tmpfs", "-o", _OPTIONS, "none", FOLDER)
    _must("systemctl", "start", _UNIT)


def _must(*command: str) -> None:
    done = run(*command)
    if not done.ok:
        raise NodeError(FOLDER, f"{' '.join(command)} failed: {done.last_line}; reboot the node")
