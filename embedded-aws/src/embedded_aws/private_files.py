"""Files that only their owner may read: they have the secret key, or what callers sent."""

import errno
import os
from pathlib import Path
from typing import IO

from embedded_aws.errors import EmbeddedAwsError

_OWNER_ONLY = 0o600


def open_private(file: Path, *, append: bool = False) -> IO[bytes]:
    """Open a file for writing that only its owner may read, even if it was there before.

    Args:
        file: it.
        append: keep what it has; by default it is emptied.

    Raises:
        EmbeddedAwsError: it is a link, as a repository of somebody else's may have one.
    """
    begin = os.O_APPEND if append else os.O_TRUNC
    flags = os.O_WRONLY | os.O_CREAT | begin | os.O_NOFOLLOW
    try:
        descriptor = os.open(file, flags, _OWNER_ONLY)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise EmbeddedAwsError(f"{file} is a link; remove it") from error
    os.fchmod(descriptor, _OWNER_ONLY)
    return os.fdopen(descriptor, "wb")


def write_private(file: Path, text: str) -> None:
    """Write a file at once, so that nobody sees half of it.

    Raises:
        EmbeddedAwsError: what it is written to first is a link.
    """
    new = file.with_suffix(".new")
    with open_private(new) as opened:
        opened.write(text.encode())
    new.replace(file)
