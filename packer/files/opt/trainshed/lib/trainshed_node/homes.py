"""Home folders on shared storage that is mounted at /home."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path

HOME = "/home"
_SKELETON = Path("/etc/skel")
# login.defs(5), UID_MIN: the first of people, on Amazon Linux and Ubuntu.
_FIRST_USER = 1000


def make_homes(log: Callable[[str], None]) -> None:
    """Give each user of the AMI a home folder there, if the storage has none yet.

    The folders of the AMI itself are hidden by the mount. Nodes that boot together may all do this.
    """
    for user in pwd.getpwall():
        home = Path(user.pw_dir)
        if user.pw_uid < _FIRST_USER or str(home.parent) != HOME or home.exists():
            continue
        try:
            home.mkdir(mode=0o700)
        except FileExistsError:
            continue
        if _SKELETON.is_dir():
            shutil.copytree(_SKELETON, home, dirs_exist_ok=True)
        for path in (home, *home.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        home.chmod(0o700)
        log(f"{home}: made for {user.pw_name}")
