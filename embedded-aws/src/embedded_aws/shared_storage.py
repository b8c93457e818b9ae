"""The shared storage that an instance mounts at its boot, if a plug-in says what.

Each file system is one folder of this machine, which all instances that mount it share. Before an
instance has it, the network is looked at as the client would find it.

EFS user guide, "Mounting with DNS names": in each zone the name of a file system is the address of
the mount target of that zone. FSx for Lustre user guide, "File system access control with Amazon
VPC": clients use TCP 988; FSx for OpenZFS user guide, the same: NFS, TCP 2049. A rule of a security
group names a group or a range of addresses. A bucket, which Mountpoint shows, is a folder with its
objects as they were when a command began; root can write there, on AWS nobody. Not looked at:
routes, network ACLs, IAM authorization of EFS, and what the node's role may read of the bucket.
"""

import base64
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

from moto.backends import get_backend
from moto.s3.models import FakeDeleteMarker

from embedded_aws.ec2.reached_services import reaches
from embedded_aws.ec2.security_group_rules import covers
from embedded_aws.hooks import ServingProcess, when_serving
from embedded_aws.hosts.hosts import Hosts
from embedded_aws.plugins import find_for_ami
from embedded_aws.s3.storage_classes import ARCHIVES
from embedded_aws.trees import remove_tree

_FOLDER = "shared-storage"
_FILE_SYSTEM = re.compile(r"fs-[0-9a-f]{8,17}")
_NFS_PORT, _LUSTRE_PORT = 2049, 988
# As clients may write once one of them has let them.
_EVERYONE = 0o1777
_READABLE, _SEEN = 0o444, 0o755
# Parts of keys that no folder shows.
_NO_NAMES = frozenset(("", ".", ".."))


class NotMounted(Exception):
    """An instance could not mount its storage; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Served:
    """Where a file system is reached.

    Attributes:
        interfaces: moto's network interfaces of its servers.
        port: TCP port.
    """

    interfaces: Sequence[Any]
    port: int


@when_serving
def _begin_empty(process: ServingProcess) -> None:
    """Remove what the process before a reset held: file systems have the ids of earlier ones."""
    remove_tree(process.folder / _FOLDER)


def mounted_storage(instance: Any, hosts: Hosts) -> Mapping[str, Path]:
    """Return the folders of the storage that moto's instance mounts, by where it mounts them.

    Raises:
        NotMounted: its boot would have failed.
    """
    read = find_for_ami(instance, lambda plugin: plugin.shared_mounts())
    if read is None:
        return {}
    wanted = read(base64.b64decode(str(instance.user_data or "")))
    return {path: _folder(instance, hosts, path, names) for path, names in wanted.items()}


def _folder(instance: Any, hosts: Hosts, path: str, parameters: Iterable[str]) -> Path:
    """Return the folder of what parameters name, which the instance mounts at a path."""
    values = _values(instance, path, parameters)
    found = next((each[0] for value in values if (each := _FILE_SYSTEM.search(value))), None)
    if found is None:
        return _bucket(instance, hosts, path, *values)
    return _file_system(instance, hosts, path, found)


def _file_system(instance: Any, hosts: Hosts, path: str, name: str) -> Path:
    """Return the folder of a file system, which the instance mounts at a path."""
    served = _efs(instance, name) or _fsx(instance, name)
    if served is None:
        raise NotMounted(f"{path}: there is no file system {name}")
    if not any(_reaches(instance, each, served.port) for each in served.interfaces):
        raise NotMounted(
            f"{path}: {name} is not reached from {instance.id}: it has no server in the zone and "
            f"the network of the instance that the security groups of both open on port "
            f"{served.port}"
        )
    folder = folder_of(hosts, name)
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(_EVERYONE)
    return folder


def folder_of(hosts: Hosts, name: str) -> Path:
    """Return the folder of a file system, which is there once an instance has mounted it."""
    return hosts.folder / _FOLDER / name


def _bucket(instance: Any, hosts: Hosts, path: str, name: str, prefix: str = "") -> Path:
    """Return a folder with the objects of a bucket as they are now, to be read."""
    if not reaches(instance, "s3"):
        raise NotMounted(f"{path}: S3 is not reached from {instance.id}")
    buckets = get_backend("s3")[instance.ec2_backend.account_id]["aws"].buckets
    if name not in buckets:
        raise NotMounted(f"{path}: there is no bucket {name}")
    top = hosts.folder / _FOLDER / "bucket"
    top.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=top))
    folder.chmod(_SEEN)
    # A folder comes before an object of its name, as Mountpoint has it.
    # A deleted object of a versioned bucket has a marker in its place, which nobody sees.
    keys = (each for each in buckets[name].keys.values() if not isinstance(each, FakeDeleteMarker))
    for key in sorted(keys, key=lambda each: str(each.name), reverse=True):
        parts = key.name.removeprefix(prefix).split("/")
        place = folder.joinpath(*parts)
        if not key.name.startswith(prefix) or not _NO_NAMES.isdisjoint(parts) or place.exists():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if key.storage_class in ARCHIVES and key.status != "RESTORED":
            # It is listed, and cannot be read.
            place.symlink_to("/proc/archived")
        else:
            place.write_bytes(key.value)
            place.chmod(_READABLE)
    return folder


def _values(instance: Any, path: str, parameters: Iterable[str]) -> list[str]:
    """Return the values of SSM parameters."""
    ssm, values = _backend(instance, "ssm"), []
    for name in parameters:
        found = ssm.get_parameters([name])
        if name not in found:
            raise NotMounted(f"{path}: SSM has no parameter {name}")
        values.append(found[name].value)
    return values


def _efs(instance: Any, name: str) -> _Served | None:
    """Return the mount targets of a file system of EFS in the instance's zone."""
    backend = _backend(instance, "efs")
    if name not in backend.file_systems_by_id:
        return None
    zone = instance.ec2_backend.get_subnet(instance.subnet_id).availability_zone
    targets = [
        target["NetworkInterfaceId"]
        for target in backend.mount_targets_by_id.values()
        if target["FileSystemId"] == name and target["AvailabilityZoneName"] == zone
    ]
    return _Served(interfaces=list(_interfaces(instance, targets)), port=_NFS_PORT)


def _fsx(instance: Any, name: str) -> _Served | None:
    """Return the servers of a file system of FSx."""
    found = _backend(instance, "fsx").file_systems.get(name)
    if found is None:
        return None
    port = _LUSTRE_PORT if found.file_system_type == "LUSTRE" else _NFS_PORT
    return _Served(interfaces=list(_interfaces(instance, found.interface_ids)), port=port)


def _interfaces(instance: Any, ids: Iterable[str]) -> Iterator[Any]:
    for each in ids:
        yield instance.ec2_backend.get_network_interface(each)


def _reaches(instance: Any, server: Any, port: int) -> bool:
    """Whether security groups let an instance connect to an interface of its VPC."""
    own = list(instance.nics.values())
    groups = {group.id: group for nic in own for group in nic.group_set}
    addresses = [nic.private_ip_address for nic in own if nic.private_ip_address]
    servers = {group.id: group for group in server.group_set}
    if server.subnet.vpc_id != instance.vpc_id:
        return False
    into = (rule for group in servers.values() for rule in group.ingress_rules)
    out = (rule for group in groups.values() for rule in group.egress_rules)
    return _permits(into, port, groups, addresses) and _permits(
        out, port, servers, [server.private_ip_address]
    )


def _permits(
    rules: Iterable[Any], port: int, groups: Mapping[str, Any], addresses: Sequence[str]
) -> bool:
    """Whether one of the rules lets through a TCP port of a peer with groups and addresses."""
    return any(
        covers(rule, port)
        and (
            rule.source_group.get("GroupId") in groups
            or (
                rule.cidr_ipv4
                and any(ip_address(each) in ip_network(rule.cidr_ipv4) for each in addresses)
            )
        )
        for rule in rules
    )


def _backend(instance: Any, service: str) -> Any:
    ec2 = instance.ec2_backend
    # get_backend is typed by the literal names of the services.
    return get_backend(service)[ec2.account_id][ec2.region_name]  # type: ignore[call-overload]
