"""What a build instance leaves behind, and what the AMI may keep."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HOMES = ("root", "home/*")


@dataclass(frozen=True)
class Kind:
    """One kind of leftover.

    Attributes:
        name: for people.
        patterns: globs of paths under /.
        empty: the files must exist and are emptied; the others are removed.
    """

    name: str
    patterns: tuple[str, ...]
    empty: bool = False

    def found(self) -> Iterator[Path]:
        """Yield what is there: files with content where they are emptied, else anything."""
        for pattern in self.patterns:
            for path in sorted(Path("/").glob(pattern)):
                if not self.empty or (path.is_file() and path.stat().st_size > 0):
                    yield path


def _in_homes(*names: str) -> tuple[str, ...]:
    return tuple(f"{home}/{name}" for home in _HOMES for name in names)


LOG = Kind("log", ())
TEMPORARY = Kind("temporary file", ())
KINDS = (
    # Each machine makes its own at boot: cloud-init's ssh module, or sshd-keygen.
    Kind("ssh host key", ("etc/ssh/ssh_host_*",)),
    # cloud-init writes the key pair of the instance again.
    Kind("authorized key", _in_homes(".ssh/authorized_keys*")),
    Kind("ssh client state", _in_homes(".ssh/known_hosts*", ".ssh/id_*", ".ssh/environment")),
    # Empty, not missing: systemd fills it at boot, and a missing one would mean a first boot of
    # systemd, with all its presets.
    Kind("machine id", ("etc/machine-id",), empty=True),
    Kind("random seed", ("var/lib/systemd/random-seed", "var/lib/systemd/credential.secret")),
    Kind("host name", ("etc/hostname",)),
    # As `cloud-init clean` does, but for a seed and for scripts that a base image may have.
    Kind(
        "cloud-init state",
        tuple(f"var/lib/cloud/{name}" for name in ("instance", "instances", "data", "sem")),
    ),
    # Names the network interfaces of the build instance by their hardware address.
    Kind("network configuration of the build instance", ("etc/netplan/50-cloud-init.yaml",)),
    Kind(
        "dhcp lease",
        ("var/lib/dhcp/*", "var/lib/dhclient/*", "var/lib/NetworkManager/*"),
    ),
    Kind("login record", ("var/log/wtmp", "var/log/btmp", "var/log/lastlog"), empty=True),
    Kind("shell history", _in_homes(".*_history", ".lesshst", ".viminfo", ".wget-hsts")),
    Kind(
        "credentials",
        (
            *_in_homes(".aws", ".docker/config.json", ".netrc", ".git-credentials", ".gnupg"),
            "etc/trainshed/first-boot.json",
        ),
    ),
    # With the key in there one is the build instance for IAM's endpoint of Systems Manager.
    Kind(
        "Session Manager registration",
        ("var/lib/amazon/ssm/Vault/Store/*", "var/lib/amazon/ssm/registration"),
    ),
    Kind("cache of a user", _in_homes(".cache")),
    Kind(
        "package cache",
        (
            *("var/cache/apt/*.bin", "var/cache/apt/archives/*.deb"),
            *("var/cache/apt/archives/partial/*", "var/lib/apt/lists/*_*"),
            *("var/lib/apt/lists/partial/*", "var/cache/dnf/*", "var/cache/yum/*"),
            *("var/cache/debconf/*-old", "var/lib/dpkg/*-old"),
        ),
    ),
    # Whatever the build instance registered as: a node with this would be refused.
    Kind("ECS agent state", ("var/lib/ecs/data/*",)),
    Kind("crash report", ("var/crash/*", "var/lib/systemd/coredump/*")),
)


def leftovers() -> Iterator[tuple[Kind, Path]]:
    """Yield everything that does not belong in an AMI, with its kind."""
    for kind in KINDS:
        for path in kind.found():
            yield kind, path
    for path in _logs():
        yield LOG, path
    for path in _temporary():
        yield TEMPORARY, path


def _logs() -> Iterator[Path]:
    """Files only: services expect the folders, and make the files again."""
    records = {f"/{pattern}" for kind in KINDS if kind.empty for pattern in kind.patterns}
    for path in sorted(Path("/var/log").rglob("*")):
        if (path.is_file() or path.is_symlink()) and str(path) not in records:
            yield path


def _temporary() -> Iterator[Path]:
    """All but what is in use: private folders of running services, sockets, the bake's script.

    systemd removes the private folders at boot.
    """
    running = scripts_of_parents()
    for folder in (Path("/tmp"), Path("/var/tmp")):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            private = path.name.startswith("systemd-private-")
            sockets = path.name.startswith(".") and path.name.endswith("-unix")
            if not private and not sockets and path not in running:
                yield path


def scripts_of_parents() -> set[Path]:
    """The files that name this program's parents: Packer runs a script in /tmp, then removes it."""
    found = set()
    process = os.getppid()
    while process > 1:
        folder = Path("/proc") / str(process)
        arguments = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        # A shell that was given a line and not a file holds the path somewhere in that line.
        words = {word for argument in arguments for word in argument.split()}
        found |= {Path(word) for word in words if word.startswith(("/tmp/", "/var/tmp/"))}
        stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        # The name in parentheses may hold spaces; the parent is the second field after it.
        process = int(stat.rpartition(")")[2].split()[1])
    return found
