"""An embedded AWS that a user has started who is not root."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_START = """#!/bin/sh
exec unshare --user --map-user=1000 --map-group=1000 {python} "$@"
"""


@contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    """Have servers started by somebody who may do nothing that root may.

    user_namespaces(7): a namespace in which this process is user 1000 takes all capabilities from
    the program that it starts. Nothing else about it changes.

    Args:
        folder: for a script.
    """
    if os.geteuid():
        yield
        return
    script = folder / "python-of-user"
    script.write_text(_START.format(python=sys.executable))
    script.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "executable", str(script))
        yield
