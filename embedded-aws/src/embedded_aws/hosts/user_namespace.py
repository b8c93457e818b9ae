"""The user namespace in which an ordinary user makes containers and networks.

user_namespaces(7): whoever makes one may do there what root may, with networks, mounts and
processes that are made within; outside he is the user that he was. Inside there are no users but
this one, who is root there: a further namespace gives him another number.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from embedded_aws.hosts.container_mounts import call
from embedded_aws.hosts.container_user import User

# clone(2).
_NEW_USERS = 0x10000000


def making() -> Sequence[str]:
    """Return the options of unshare(1) by which this process may make other namespaces."""
    return ("--user", "--map-root-user") if os.geteuid() else ()


def entering(pid: int, *namespaces: str) -> list[str]:
    """Return the beginning of a command that runs in namespaces of a process.

    Args:
        pid: of the process.
        namespaces: by the options of nsenter(1), for instance `net`.
    """
    own = ("user", "preserve-credentials") if os.geteuid() else ()
    return ["nsenter", f"--target={pid}", *(f"--{each}" for each in (*own, *namespaces))]


def become(user: User) -> None:
    """Make a user that of this process, which is root.

    Raises:
        OSError: it cannot be.
    """
    policy = Path("/proc/self/setgroups")
    # Kernels without user namespaces do not have it.
    if not policy.exists() or policy.read_text() == "allow\n":
        os.setgroups(user.groups)
        os.setgid(user.group)
        os.setuid(user.number)
    elif user.number or user.group:
        call("unshare", _NEW_USERS)
        Path("/proc/self/uid_map").write_text(f"{user.number} 0 1\n")
        Path("/proc/self/gid_map").write_text(f"{user.group} 0 1\n")
