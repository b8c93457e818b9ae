"""Files that only their owner may read: they have the secret key, or what callers sent."""

import os
from pathlib import Path
from typing import IO

_OWNER_ONLY = 0o600


def open_private(file: Path) -> IO[bytes]:
    """Open an empty file for writing that only its owner may read, even if it was there before."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
    os.fchmod(descriptor, _OWNER_ONLY)
    return os.fdopen(descriptor, "wb")


def write_private(file: Path, text: str) -> None:
    """Write a file at once, so that nobody sees half of it."""
    new = file.with_suffix(".new")
    with open_private(new) as opened:
        opened.write(text.encode())
    new.replace(file)
