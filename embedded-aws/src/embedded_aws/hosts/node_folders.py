"""Where on this machine a folder of a node is, which containers see."""

from collections.abc import Mapping
from pathlib import Path


def node_folder(path: str, root: Path, mounted: Mapping[str, Path]) -> Path | None:
    """Return a folder of a node, or this machine's of the same path; None if there is none.

    Args:
        path: on the node.
        root: folder with files of the node, by their paths there.
        mounted: folders of the node that are elsewhere on this machine, by their paths there.
    """
    own = root / path.lstrip("/")
    found = mounted.get(path, own if path and own.exists() else Path(path))
    return found if found.is_absolute() and found.exists() else None
