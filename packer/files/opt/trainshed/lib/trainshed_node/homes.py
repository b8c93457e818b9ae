"""Home folders on shared storage that is mounted at /home."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from trainshed_node.errors import NodeError

HOME = "/home"
_SKELETON = Path("/etc/skel")
# login.defs(5), UID_MIN: the first of people, on Amazon Linux and Ubuntu.
_FIRST_USER = 1000


def make_homes(log: Callable[[str], None]) -> None:
    """Give each user of the AMI a home folder there, if the storage has none yet.

    The folders of the AMI itself are hidden by the mount. Nodes that boot together may all do this;
    one is there whole or not at all.

    Raises:
        NodeError: root may not make them.
    """
    for user in pwd.getpwall():
        home = Path(user.pw_dir)
        if user.pw_uid < _FIRST_USER or str(home.parent) != HOME or home.exists():
            continue
        try:
            _make(home, user.pw_uid, user.pw_gid)
        except OSError as error:
            raise NodeError(
                str(home),
                f"was not made ({error.strerror}); export the file system with no_root_squash, or "
                f"make it by hand for user {user.pw_uid}",
            ) from None
        log(f"{home}: made for {user.pw_name}")


def _make(home: Path, user: int, group: int) -> None:
    made = Path(tempfile.mkdtemp(prefix=".trainshed-", dir=home.parent))
    try:
        if _SKELETON.is_dir():
            shutil.copytree(_SKELETON, made, dirs_exist_ok=True)
        for path in (made, *made.rglob("*")):
            os.chown(path, user, group, follow_symlinks=False)
        made.chmod(0o700)
        made.rename(home)
    except OSError:
        shutil.rmtree(made, ignore_errors=True)
        # Another node was first.
        if not home.exists():
            raise
