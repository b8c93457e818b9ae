"""An embedded AWS that a user has started who is not root."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

import pytest

_START = """#!/bin/sh
exec unshare --mount sh -euc '
mount -t tmpfs -o nosuid,nodev tmpfs "$1"
shift
exec unshare --user --map-user=1000 --map-group=1000 "$@"' sh {limited} {python} "$@"
"""


@contextmanager
def ordinary_user(folder: Path) -> Iterator[Path]:
    """Have servers started by somebody who may do nothing that root may.

    user_namespaces(7): a namespace in which this process is user 1000 takes all capabilities from
    the program that it starts. Nothing else about it changes.

    Args:
        folder: for a script.

    Yields:
        A folder that root has mounted for them with `nosuid` and `nodev`.
    """
    limited = folder / "limited"
    limited.mkdir()
    if os.geteuid():
        yield limited
        return
    script = folder / "python-of-user"
    script.write_text(_START.format(limited=quote(str(limited)), python=quote(sys.executable)))
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "executable", str(script))
        yield limited
