"""Whether a file system takes writes."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from trainshed_node.errors import NodeError

# Somebody's decision about the folder, or a full file system: jobs may have their own way with it.
_NOT_THE_MOUNT = (errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT)


def must_be_writable(folder: Path, log: Callable[[str], None]) -> None:
    """Write a file that nobody sees.

    A file system with errors is mounted read-only, and one whose server is gone takes writes until
    they are to be kept.

    Raises:
        NodeError: it takes no writes. Where root may not write, or it is full, is only said.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"trainshed")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in _NOT_THE_MOUNT:
            raise NodeError(
                str(folder), f"cannot be written ({error.strerror}); see the kernel's log"
            ) from None
        log(f"{folder}: WARNING: no file was written there ({error.strerror})")
