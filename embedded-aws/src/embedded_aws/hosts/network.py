"""The network of the hosts of one VPC: a bridge, on which each has its instance's address.

VPC user guide: an instance has an address of its own, by which the others of its VPC reach it. As
root, or in a user namespace, each host is in a network namespace of its own, whose interface is on
a bridge that is in a namespace, too: nothing of the machine's own network changes.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from embedded_aws.hosts.user_namespace import entering, making

_PROGRAMS = ("ip", "mount", "nsenter", "unshare")
_HELD = ("--fork", "--kill-child")
# The first process of the namespaces of a network. The embedded AWS holds the other end of its
# pipe: when that is closed, the kernel ends every process inside, and with them go mounts and
# networks.
_HOLD = """
read -r id _ </proc/self/stat
mount -t proc proc /proc
ip link add hosts type bridge
ip link set hosts up
echo "$id"
exec cat >/dev/null
"""
# One host, run in the namespaces of _HOLD. Arguments: its number, its address with the length of
# the network's prefix, its name, the file of hosts, a command.
_HOST = """
set -e
ip -batch - <<EOF
link set lo up
link add eth0 type veth peer name host$1 netns 1
address add $2 dev eth0
link set eth0 up
EOF
nsenter --target 1 --net ip link set "host$1" master hosts up
shift 2
exec unshare --mount --pid --uts --ipc --fork --kill-child --mount-proc sh -c '
set -e
hostname "$1"
mount --bind "$2" /etc/hosts
mount -t tmpfs tmpfs /dev/shm
shift 2
exec "$@"' host "$@"
"""
# Container runtimes and distributions often forbid some of it to ordinary users.
_PROBE = """
set -e
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
ip link add hosts type bridge
"""


class Network:
    """A bridge and the network namespaces of the hosts on it.

    Args:
        prefix: length of the network's prefix, for instance 16.
        file: for the names of its hosts.
        lock: open file, locked until nothing is left.
    """

    def __init__(self, prefix: int, file: Path, lock: int) -> None:
        self._prefix = prefix
        self._file = file
        self._file.write_text("127.0.0.1 localhost\n::1 localhost\n")
        self._named: set[str] = set()
        self._joined = 0
        self._process = subprocess.Popen(
            ["unshare", *making(), *_HELD, "--net", "--mount", "--pid", "sh", "-c", _HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[lock],
            # The embedded AWS may be killed with its whole process group.
            start_new_session=True,
        )
        assert self._process.stdout
        self._first = int(self._process.stdout.readline())

    def name(self, addresses: Iterable[str]) -> None:
        """Let the hosts find addresses by their names.

        VPC user guide: the names that DNS in a VPC resolves, here without their domain.
        """
        new = sorted(set(addresses) - self._named)
        self._named.update(new)
        # The hosts have this file mounted, so it is never replaced.
        with self._file.open("a") as file:
            file.write("".join(f"{address} {_name(address)}\n" for address in new))

    def joining(
        self, address: str, command: Sequence[str], *, name: str = "", names: Path | None = None
    ) -> list[str]:
        """Return a command that runs another one in the namespaces of a new host.

        Args:
            address: of the host.
            command: that runs there.
            name: of the host; by default as those of instances are.
            names: file that is its /etc/hosts; by default the names of all instances.
        """
        self._joined += 1
        return [
            *entering(self._first, "mount", "pid", "net"),
            *("unshare", "--net", "sh", "-c", _HOST, "host"),
            *(str(self._joined), f"{address}/{self._prefix}"),
            *(name or _name(address), str(names or self._file)),
            *command,
        ]

    def close(self) -> None:
        """End everything inside."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._file.unlink(missing_ok=True)


def _name(address: str) -> str:
    return f"ip-{address.replace('.', '-')}"


@cache
def namespaces_unavailable() -> str | None:
    """Return why hosts cannot have networks of their own on this machine, or None."""
    if sys.platform != "linux":
        return "network namespaces need Linux"
    if missing := [name for name in _PROGRAMS if not shutil.which(name)]:
        return f"network namespaces need {', '.join(missing)}"
    apart = ["unshare", *making(), *_HELD, "--net", "--mount", "--pid", "--uts", "--ipc"]
    tried = subprocess.run([*apart, "sh", "-c", _PROBE], capture_output=True, text=True)
    if not tried.returncode:
        return None
    said = tried.stderr.strip()
    if os.geteuid():
        return f"network namespaces need root, or a user namespace, which is refused here: {said}"
    return f"this machine has no namespaces: {said}"
