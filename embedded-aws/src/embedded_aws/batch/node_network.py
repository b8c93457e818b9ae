"""The network of the nodes of one job: a bridge with an address for each node, or loopback.

[S] AWS Batch user guide: each node of a multi-node job has a network interface and an address of
its own, and the nodes reach each other by these. As root, each node is in a network namespace of
its own, whose interface is on a bridge that is in a namespace, too: nothing of the machine's own
network changes. Otherwise each node has an address of 127.0.0.0/8, to which the commands bind by
themselves; these are all addresses of one machine, so nobody is kept from anybody's ports.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from embedded_aws.guests.addresses import Address

_PROGRAMS = ("ip", "mount", "nsenter", "unshare")
_HELD = ("--fork", "--kill-child")
# The first process of the namespaces of a job. The embedded AWS holds the other end of its pipe:
# when that is closed, the kernel ends every process inside, and with them go mounts and networks.
_HOLD = """
read -r id _ </proc/self/stat
mount -t proc proc /proc
ip link add nodes type bridge
ip link set nodes up
echo "$id"
exec cat >/dev/null
"""
# One node, run in the namespaces of _HOLD. Arguments: its number, its address with the length of
# the network's prefix, its name, its file of hosts, a command.
_NODE = """
set -e
ip -batch - <<EOF
link set lo up
link add eth0 type veth peer name node$1 netns 1
address add $2 dev eth0
link set eth0 up
EOF
nsenter --target 1 --net ip link set "node$1" master nodes up
shift 2
exec unshare --mount --pid --uts --ipc --fork --kill-child --mount-proc sh -c '
set -e
hostname "$1"
mount --bind "$2" /etc/hosts
mount -t tmpfs tmpfs /dev/shm
shift 2
exec "$@"' node "$@"
"""


class NodeNetwork(Protocol):
    """What the processes of a job's nodes need of their network.

    Attributes:
        addresses: by which the nodes reach each other, by their index.
        apart: the nodes have networks of their own, in which nothing listens yet.
    """

    addresses: Sequence[str]
    apart: bool

    def command(self, index: int, command: Sequence[str]) -> list[str]:
        """Return a command that runs another one on a node."""

    def close(self) -> None:
        """End whatever runs on the nodes; return when nothing is left."""


class LoopbackNetwork:
    """Nodes with addresses of loopback.

    Args:
        nodes: how many.
    """

    apart = False

    def __init__(self, nodes: int) -> None:
        self._claimed = [Address() for _ in range(nodes)]
        self.addresses: Sequence[str] = [address.text for address in self._claimed]

    def command(self, index: int, command: Sequence[str]) -> list[str]:
        """Return the command itself."""
        return list(command)

    def close(self) -> None:
        """Release the addresses."""
        for address in self._claimed:
            address.release()


class BridgedNetwork:
    """Nodes with network namespaces of their own.

    Args:
        addresses: private ones of the nodes' instances.
        prefix: length of the network's prefix, for instance 16.
        folder: for a file.
        lock: open file, locked until nothing is left.
    """

    apart = True

    def __init__(self, addresses: Sequence[str], prefix: int, folder: Path, lock: int) -> None:
        self.addresses = addresses
        self._prefix = prefix
        self._hosts = folder / "hosts"
        # [S] VPC user guide: the names that DNS in a VPC resolves, here without their domain.
        names = "".join(f"{address} {_name(address)}\n" for address in addresses)
        self._hosts.write_text(f"127.0.0.1 localhost\n::1 localhost\n{names}")
        self._process = subprocess.Popen(
            ["unshare", *_HELD, "--net", "--mount", "--pid", "sh", "-c", _HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[lock],
            # The embedded AWS may be killed with its whole process group.
            start_new_session=True,
        )
        assert self._process.stdout
        self._first = int(self._process.stdout.readline())

    def command(self, index: int, command: Sequence[str]) -> list[str]:
        """Return a command that runs another one in the namespaces of a new node."""
        address = self.addresses[index]
        return [
            *("nsenter", f"--target={self._first}", "--mount", "--pid", "--net"),
            *("unshare", "--net", "sh", "-c", _NODE, "node"),
            *(str(index), f"{address}/{self._prefix}", _name(address), str(self._hosts)),
            *command,
        ]

    def close(self) -> None:
        """End everything inside."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _name(address: str) -> str:
    return f"ip-{address.replace('.', '-')}"


@cache
def namespaces_unavailable() -> str | None:
    """Return why nodes cannot have networks of their own on this machine, or None."""
    if sys.platform != "linux":
        return "network namespaces need Linux"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if missing := [name for name in _PROGRAMS if not shutil.which(name)]:
        return f"network namespaces need {', '.join(missing)}"
    probe = ["unshare", *_HELD, "--net", "--mount", "--pid", "--uts"]
    bridge = ["ip", "link", "add", "nodes", "type", "bridge"]
    tried = subprocess.run([*probe, *bridge], capture_output=True, text=True)
    return f"this machine has no namespaces: {tried.stderr.strip()}" if tried.returncode else None
