"""The settings of an instance: `/etc/trainshed/first-boot.json`, written by user data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed_node.documents import read_object, text
from trainshed_node.errors import NodeError

SETTINGS = Path("/etc/trainshed/first-boot.json")
# A file system that is created at the same time takes ten minutes or so.
_WAIT_SECONDS = 1800


@dataclass(frozen=True)
class Lustre:
    """Where an FSx for Lustre file system is, and where nodes and containers see it.

    Attributes:
        mount: directory, for instance `/fsx`.
        region: of the parameters.
        dns_name_parameter: SSM parameter with the DNS name of the file system.
        mount_name_parameter: SSM parameter with its mount name.
        wait_seconds: how long to wait for the parameters and the mount, together.
        efa_interfaces: EFA interfaces to reach it with; 0 for TCP alone.
    """

    mount: str
    region: str
    dns_name_parameter: str
    mount_name_parameter: str
    wait_seconds: float
    efa_interfaces: int


@dataclass(frozen=True)
class Settings:
    """What the first boot must do.

    Attributes:
        scratch: assemble the instance store; off where something else owns it, such as nodeadm
            with `localStorage`.
        lustre: file system to mount, if any.
    """

    scratch: bool
    lustre: Lustre | None


def read_settings(path: Path = SETTINGS) -> Settings:
    """Read the settings; without a file there is scratch space and nothing to mount.

    Raises:
        NodeError: the file cannot be understood.
    """
    if not path.exists():
        return Settings(scratch=True, lustre=None)
    document = read_object(path)
    _only(document, {"region", "lustre", "scratch"}, str(path))
    scratch = document.get("scratch", True)
    if not isinstance(scratch, bool):
        raise NodeError(str(path), f"scratch must be true or false, not {scratch!r}; correct it")
    return Settings(scratch=scratch, lustre=_lustre(document, str(path)))


def _lustre(document: dict[str, Any], where: str) -> Lustre | None:
    entry = document.get("lustre")
    if entry is None:
        return None
    if not isinstance(entry, dict):
        raise NodeError(where, "lustre must be an object; correct it")
    where = f"{where}: lustre"
    names = ("mount", "dns_name_parameter", "mount_name_parameter")
    _only(entry, {*names, "wait_seconds", "efa_interfaces"}, where)
    mount, dns_name, mount_name = (text(entry, name, where) for name in names)
    if not mount.startswith("/") or mount == "/":
        raise NodeError(where, f"mount must be an absolute path, not {mount!r}; correct it")
    wait = entry.get("wait_seconds", _WAIT_SECONDS)
    if isinstance(wait, bool) or not isinstance(wait, (int, float)) or wait < 0:
        raise NodeError(where, f"wait_seconds must be a number, not {wait!r}; correct it")
    efa = entry.get("efa_interfaces", 0)
    if isinstance(efa, bool) or not isinstance(efa, int) or efa < 0:
        raise NodeError(where, f"efa_interfaces must be a whole number, not {efa!r}; correct it")
    return Lustre(
        mount=mount,
        region=text(document, "region", where),
        dns_name_parameter=dns_name,
        mount_name_parameter=mount_name,
        wait_seconds=wait,
        efa_interfaces=efa,
    )


def _only(document: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(document.keys() - known):
        raise NodeError(
            where, f"does not know {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        )
