"""Whether a file system can be read."""

from __future__ import annotations

import os
from pathlib import Path

from trainshed_node.errors import NodeError


def must_be_readable(folder: Path) -> None:
    """List the folder, for which Mountpoint asks S3.

    Raises:
        NodeError: it cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            next(entries, None)
    except OSError as error:
        raise NodeError(
            str(folder),
            f"cannot be read ({error.strerror}); see that the node's role may list the bucket and "
            "get its objects",
        ) from None
