"""The settings of an instance: `/etc/trainshed/first-boot.json`, written by user data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainshed_node.devices import DEVICES
from trainshed_node.documents import read_object, text
from trainshed_node.errors import NodeError

SETTINGS = Path("/etc/trainshed/first-boot.json")
# A file system that is created at the same time takes ten minutes or so.
_WAIT_SECONDS = 1800


# By kind of shared storage, in the order in which it is mounted: what its SSM parameters hold.
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "lustre": ("dns_name", "mount_name"),
    "efs": ("file_system_id",),
    "openzfs": ("dns_name", "volume_path"),
    "bucket": ("bucket_name",),
}
# Those that storage may do without.
_OPTIONAL: Mapping[str, tuple[str, ...]] = {"bucket": ("prefix",)}


@dataclass(frozen=True)
class Mount:
    """Where shared storage is, and where nodes and containers see it.

    Attributes:
        kind: of the storage, for instance `lustre`.
        path: directory, for instance `/fsx`.
        parameters: names of the SSM parameters that say what to mount, by what they hold.
        wait_seconds: how long to wait for the parameters and the mount, together.
        efa_interfaces: EFA interfaces to reach it with; 0 for TCP alone.
    """

    kind: str
    path: str
    parameters: Mapping[str, str]
    wait_seconds: float
    efa_interfaces: int


@dataclass(frozen=True)
class Signal:
    """The resource of CloudFormation whose creation waits for this node.

    Attributes:
        stack: id of its stack.
        resource: its logical id there.
    """

    stack: str
    resource: str


@dataclass(frozen=True)
class Settings:
    """What the first boot must do.

    Attributes:
        region: of the services that it calls; empty if it calls none.
        cluster: whose node this is; empty for none, so that its boot is not reported.
        devices: how many of each kind of `DEVICES` the node must have; empty to check nothing.
        kubernetes: minor version of the cluster of EKS that the node joins, for instance `1.35`;
            empty for none.
        monitoring: send the metrics of the cluster.
        scratch: assemble the instance store; off where something else owns it, such as nodeadm
            with `localStorage`.
        scratch_devices: device names of the volumes of EBS that scratch space is made of instead;
            empty for the instance store.
        mounts: shared storage to mount, in this order.
        signals: what to signal when the boot went well, if anything.
        reserved: the node is in a Capacity Reservation or Capacity Block.
    """

    region: str
    cluster: str
    devices: Mapping[str, int]
    kubernetes: str
    monitoring: bool
    scratch: bool
    scratch_devices: tuple[str, ...]
    mounts: tuple[Mount, ...]
    signals: Signal | None
    reserved: bool


def read_settings(path: Path = SETTINGS) -> Settings:
    """Read the settings; without a file there is scratch space and nothing to mount.

    Raises:
        NodeError: the file cannot be understood.
    """
    document = read_object(path) if path.exists() else {}
    where = str(path)
    known = {"region", "cluster", "devices", "kubernetes", "monitoring", "scratch", "signals"}
    _only(document, {*known, "reserved", "scratch_devices", *_PARAMETERS}, where)
    monitoring = _flag(document, "monitoring", where, default=False)
    calls = document.keys() & {"cluster", "signals", *_PARAMETERS}
    return Settings(
        region=text(document, "region", where) if calls else "",
        cluster=text(document, "cluster", where) if monitoring or "cluster" in document else "",
        devices=device_counts(_object(document, "devices", where) or {}, f"{where}: devices"),
        kubernetes=text(document, "kubernetes", where) if "kubernetes" in document else "",
        monitoring=monitoring,
        scratch=_flag(document, "scratch", where, default=True),
        scratch_devices=_device_names(document, where),
        mounts=tuple(_mounts(document, where)),
        signals=_signal(document, where),
        reserved=_flag(document, "reserved", where, default=False),
    )


def device_counts(entry: dict[str, Any], where: str) -> dict[str, int]:
    """Return how many devices of each kind a node must have.

    Args:
        entry: the JSON object.
        where: it stands, for messages.

    Raises:
        NodeError: it names a kind that is none of `DEVICES`, or a count that is no number.
    """
    _only(entry, set(DEVICES), where)
    return {kind: _whole_number(entry, kind, where) for kind in entry}


def _device_names(document: dict[str, Any], where: str) -> tuple[str, ...]:
    names = document.get("scratch_devices", [])
    if not isinstance(names, list) or not all(map(_is_device_name, names)):
        raise NodeError(
            where, f'scratch_devices must be a list like ["/dev/sdf"], not {names!r}; correct it'
        )
    return tuple(names)


def _is_device_name(name: object) -> bool:
    return isinstance(name, str) and re.fullmatch("/dev/sd[a-z]", name) is not None


def _mounts(document: dict[str, Any], where: str) -> Iterator[Mount]:
    for kind in _PARAMETERS:
        entry = _object(document, kind, where)
        if entry is not None:
            yield _mount(kind, entry, f"{where}: {kind}")


def _mount(kind: str, entry: dict[str, Any], where: str) -> Mount:
    keys = {what: f"{what}_parameter" for what in _PARAMETERS[kind]}
    optional = {what: f"{what}_parameter" for what in _OPTIONAL.get(kind, ())}
    known = {*keys.values(), *optional.values()}
    _only(entry, {"mount", *known, "wait_seconds", "efa_interfaces"}, where)
    keys |= {what: key for what, key in optional.items() if key in entry}
    path = text(entry, "mount", where)
    if not path.startswith("/") or path == "/":
        raise NodeError(where, f"mount must be an absolute path, not {path!r}; correct it")
    wait = entry.get("wait_seconds", _WAIT_SECONDS)
    if isinstance(wait, bool) or not isinstance(wait, (int, float)) or wait < 0:
        raise NodeError(where, f"wait_seconds must be a number, not {wait!r}; correct it")
    return Mount(
        kind=kind,
        path=path,
        parameters={what: text(entry, key, where) for what, key in keys.items()},
        wait_seconds=wait,
        efa_interfaces=_whole_number(entry, "efa_interfaces", where),
    )


def _signal(document: dict[str, Any], where: str) -> Signal | None:
    entry = _object(document, "signals", where)
    if entry is None:
        return None
    where = f"{where}: signals"
    _only(entry, {"stack", "resource"}, where)
    return Signal(stack=text(entry, "stack", where), resource=text(entry, "resource", where))


def _object(document: dict[str, Any], key: str, where: str) -> dict[str, Any] | None:
    entry = document.get(key)
    if entry is not None and not isinstance(entry, dict):
        raise NodeError(where, f"{key} must be an object; correct it")
    return entry


def _flag(document: dict[str, Any], key: str, where: str, *, default: bool) -> bool:
    value = document.get(key, default)
    if not isinstance(value, bool):
        raise NodeError(where, f"{key} must be true or false, not {value!r}; correct it")
    return value


def _whole_number(entry: dict[str, Any], key: str, where: str) -> int:
    number = entry.get(key, 0)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise NodeError(where, f"{key} must be a whole number, not {number!r}; correct it")
    return number


def _only(document: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := sorted(document.keys() - known):
        raise NodeError(
            where, f"does not know {', '.join(unknown)}; known are {', '.join(sorted(known))}"
        )
