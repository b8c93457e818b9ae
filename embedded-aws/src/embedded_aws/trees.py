"""Folders in which processes of hosts have written."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

_OWN = 0o700


def remove_tree(folder: Path) -> None:
    """Remove a folder, if it is there, also what its owner may not look into.

    An overlay has such folders, and a container may make some. Root looks into all of them.
    """
    for parent, names, _ in os.walk(folder) if os.geteuid() else ():
        for path in (Path(parent, name) for name in names):
            if not path.is_symlink():
                with suppress(OSError):
                    path.chmod(_OWN)
    shutil.rmtree(folder, ignore_errors=True)
