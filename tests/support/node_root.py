"""A plain directory that a node program takes for the whole machine.

The real programs run, by the system's Python, in namespaces and a root of their own: so they see
their absolute paths, and what they remove or mount is nothing of this machine's. /usr is this
machine's; /usr/local/bin is the test's and comes first: what stands there stands in for a command
that cannot be had without a booted system, such as systemctl. Nothing of systemd runs in here; the
tests in guests have all of it.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import pytest

FILES = Path(__file__).parents[2] / "packer" / "files"
RECIPES = FILES.parent / "recipes"
HOME = "opt/trainshed"
KERNEL = "6.8.0-1-test"
# A recipe of our own: what the programs do does not depend on today's pins.
RECIPE = {
    **{"accelerator": "habana", "orchestrator": "ecs", "base": "ubuntu-22.04"},
    **{"kernel": KERNEL, "ssh_user": "ubuntu", "release": "20260101"},
}
# Of what runs in the directory.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin", "LC_ALL": "C.UTF-8"}
# Shell command that sets the loopback device of a new network up, where iproute2 may be missing:
# SIOCSIFFLAGS with IFF_UP, netdevice(7).
LOOPBACK_UP = (
    "python3 -c 'import fcntl, socket, struct; "
    'fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh22x", b"lo", 1))\''
)
_DEVICES = ("null", "zero", "random", "urandom")
_MERGED = ("bin", "lib", "lib64", "sbin")
_FOLDERS = ("dev", "etc", "home/ubuntu", "opt", "proc", "root", "run", "sys", "tmp", "usr", "var")
_ENTER = """
set -e
mount --rbind /usr "$1/usr"
mount --bind "$1.local" "$1/usr/local"
mount --bind "$1.src" "$1/usr/src"
mount -t proc none "$1/proc"
eval "$2"
shift 2
exec "$@"
"""


def _namespaces_unavailable() -> str:
    """Why programs cannot be run in a root of their own here; empty when they can."""
    if not shutil.which("unshare"):
        return "there is no unshare(1)"
    done = subprocess.run([*_unshare(), "true"], capture_output=True, text=True)
    return f"no mount namespaces here: {done.stderr.strip()}" if done.returncode else ""


def _unshare() -> tuple[str, ...]:
    own = () if os.geteuid() == 0 else ("--map-root-user",)
    return (
        "unshare",
        *own,
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--propagation",
        "private",
    )


_UNAVAILABLE = _namespaces_unavailable()
# Marks tests that run programs in a NodeRoot.
needs_namespaces = pytest.mark.skipif(bool(_UNAVAILABLE), reason=_UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRoot:
    """The directory.

    Attributes:
        path: where it is.
        devices: shell commands that fill its /dev.
    """

    path: Path
    devices: str = 'mount --rbind /dev "$1/dev"'

    @classmethod
    def make(cls, folder: Path, **arguments: Any) -> Self:
        """Make one in an empty folder, with the files that a bake installs."""
        root = folder / "root"
        for name in _FOLDERS:
            (root / name).mkdir(parents=True)
        for name in ("local/bin", "src"):
            Path(f"{root}.{name}").mkdir(parents=True)
        for name in _MERGED:
            (root / name).symlink_to(f"usr/{name}")
        shutil.copytree(FILES, root, dirs_exist_ok=True)
        image = cls(path=root, **arguments)
        image.write("etc/os-release", 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\nID=ubuntu\n')
        image.pin()
        return image

    def pin(
        self,
        components: Mapping[str, Any] | None = None,
        recipe: Mapping[str, str] | None = None,
    ) -> None:
        """Write recipe.json, with other facts as given, and ami.json."""
        facts = {**RECIPE, **(recipe or {}), "components": components or {}}
        self.write(f"{HOME}/recipe.json", json.dumps(facts))
        self.write(f"{HOME}/ami.json", json.dumps({"commit": "c", "nvidia_driver": "open"}))

    def write(self, name: str, content: str = "x\n") -> Path:
        """Write a file, with its folders."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def with_disks(self, disks: Mapping[str, str]) -> Self:
        """Give it block devices of this machine, under other names, and no others."""
        devices = [
            'mount -t tmpfs -o size=64k none "$1/dev"',
            *(f'touch "$1/dev/{it}"; mount --bind /dev/{it} "$1/dev/{it}"' for it in _DEVICES),
        ]
        for name, disk in disks.items():
            number = os.stat(disk).st_rdev  # noqa: PTH116  # a Path has no st_rdev of its own
            devices.append(f'mknod "$1/dev/{name}" b {os.major(number)} {os.minor(number)}')
            (self.path / f"sys/block/{name}/holders").mkdir(parents=True)
        return replace(self, devices="\n".join(devices))

    def source(self, name: str, content: str) -> None:
        """Write a file under /usr/src."""
        path = Path(f"{self.path}.src", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def command(self, name: str, script: str) -> None:
        """Put a stand-in of a command, a shell script, before this machine's."""
        path = Path(f"{self.path}.local", "bin", name)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def plug(self, number: int, *, vendor: str, device: str = "0x1", kind: str = "0x0") -> None:
        """Put cards on the PCI bus."""
        for index in range(number):
            card = f"sys/bus/pci/devices/0000:{vendor[2:]}:{device[2:]}.{kind[2:]}.{index}"
            self._identify(card, vendor, device, kind)

    def verbs(self, number: int, *, vendor: str, device: str, first: int = 0) -> None:
        """Have a driver make verbs devices of cards that are on the bus."""
        for index in range(first, first + number):
            self._identify(f"sys/class/infiniband_verbs/uverbs{index}/device", vendor, device)
            self.write(f"dev/infiniband/uverbs{index}")

    def _identify(self, folder: str, vendor: str, device: str, kind: str = "0x0") -> None:
        for name, value in (("vendor", vendor), ("device", device), ("class", kind)):
            self.write(f"{folder}/{name}", f"{value}\n")

    def run(self, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in the directory."""
        return subprocess.run(
            [*self.enter(), *command], capture_output=True, text=True, env=ENVIRONMENT
        )

    def enter(self) -> tuple[str, ...]:
        """Return what runs the command that follows in the directory."""
        enter = ("sh", "-c", _ENTER, "sh", str(self.path), self.devices, "chroot", str(self.path))
        return (*_unshare(), *enter)

    def shell(self, script: str) -> "subprocess.CompletedProcess[str]":
        """Run a shell script in the directory, in one namespace: mounts last until its end."""
        return self.run("sh", "-c", script)

    def program(self, name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a node program."""
        return self.run(f"/{HOME}/{name}", *arguments)
