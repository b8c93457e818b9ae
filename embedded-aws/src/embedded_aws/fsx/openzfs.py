"""What FSx refuses about the properties of an OpenZFS file system.

FSx API reference (CreateFileSystem, OpenZFSConfiguration): throughput by deployment type, 64 to
524,288 GiB on SSD, at least 3 IOPS a GiB, record sizes, Intelligent-Tiering in several zones only.
FSx for OpenZFS user guide, "Performance": at most 160,000 IOPS of the first generation of
deployment types, 400,000 of the second [from memory]. exports(5): options of NFS exports.
Inferred: the exact words, and that FSx refuses options that exports(5) does not have.
"""

import re
from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import Any

from embedded_aws.actions import Refusal
from embedded_aws.fsx.lustre import FileSystemParams, bad_request, storage_type

_FIRST = (64, 128, 256, 512, 1024, 2048, 3072, 4096)
_SECOND = (160, 320, 640, 1280, 2560, 3840, 5120, 7680, 10240)
_THROUGHPUTS = {
    "SINGLE_AZ_1": _FIRST,
    "SINGLE_AZ_HA_1": _FIRST,
    "SINGLE_AZ_2": _SECOND,
    "SINGLE_AZ_HA_2": _SECOND,
}
_LEAST_GIB, _MOST_GIB = 64, 524_288
_IOPS_A_GIB = 3
_MOST_IOPS = {_FIRST: 160_000, _SECOND: 400_000}
_RECORD_KIB = tuple(2**power for power in range(2, 11))
_SEVERAL_ZONES = ("EndpointIpAddressRange", "PreferredSubnetId", "RouteTableIds")
_EXPORT_OPTION = re.compile(
    r"(in)?secure|rw|ro|a?sync|(no_)?wdelay|(no)?hide|crossmnt|(no_)?subtree_check"
    r"|(no_)?root_squash|(no_)?all_squash|anon[ug]id=\d+|sec=[a-z0-9:]+|fsid=\S+"
)


def check_openzfs(params: FileSystemParams) -> None:
    """Refuse an OpenZFS file system that FSx refuses.

    Raises:
        Refusal: as FSx does.
    """
    openzfs = params.get("OpenZFSConfiguration")
    if openzfs is None:
        raise Refusal(
            "MissingFileSystemConfiguration",
            "A file system configuration is required for this operation: OpenZFSConfiguration.",
        )
    deployment = openzfs["DeploymentType"]
    if deployment not in _THROUGHPUTS:
        raise bad_request(f"the embedded AWS makes no {deployment} OpenZFS file systems.")
    if storage_type(params) != "SSD":
        raise bad_request(
            f"StorageType {storage_type(params)} is not supported on {deployment} OpenZFS file "
            "systems."
        )
    for name in ("FileSystemTypeVersion", "LustreConfiguration"):
        if name in params:
            raise bad_request(f"{name} is not supported on OpenZFS file systems.")
    for name in _SEVERAL_ZONES:
        if name in openzfs:
            raise bad_request(f"{name} is for Multi-AZ file systems only.")
    allowed = _THROUGHPUTS[deployment]
    if openzfs["ThroughputCapacity"] not in allowed:
        raise bad_request(
            f"ThroughputCapacity {openzfs['ThroughputCapacity']} is not valid for {deployment} "
            f"file systems. Valid values are {', '.join(map(str, allowed))} MBps."
        )
    capacity = params.get("StorageCapacity")
    if capacity is None or not _LEAST_GIB <= capacity <= _MOST_GIB:
        raise bad_request(
            f"Storage capacity {capacity} GiB is not valid for OpenZFS file systems. Valid values "
            f"are {_LEAST_GIB} to {_MOST_GIB} GiB."
        )
    _check_iops(openzfs.get("DiskIopsConfiguration", {}), capacity, _MOST_IOPS[allowed])
    check_volume(openzfs.get("RootVolumeConfiguration", {}))


def automatic_iops(capacity_gib: int, deployment: str) -> int:
    """Return the disk IOPS that FSx provisions in AUTOMATIC mode."""
    return min(_IOPS_A_GIB * capacity_gib, _MOST_IOPS[_THROUGHPUTS[deployment]])


def _check_iops(iops: Mapping[str, Any], capacity_gib: int, most: int) -> None:
    mode, given = iops.get("Mode", "AUTOMATIC"), iops.get("Iops")
    if (mode == "AUTOMATIC") == (given is not None):
        raise bad_request("Disk Iops is required in USER_PROVISIONED mode, and only there.")
    least = min(_IOPS_A_GIB * capacity_gib, most)
    if given is not None and not least <= given <= most:
        raise bad_request(
            f"Disk Iops {given} is not valid for a storage capacity of {capacity_gib} GiB. Valid "
            f"values are {least} to {most}."
        )


def check_volume(volume: Mapping[str, Any]) -> None:
    """Refuse the configuration of a root volume.

    Raises:
        Refusal: BadRequest.
    """
    record = volume.get("RecordSizeKiB")
    if record is not None and record not in _RECORD_KIB:
        raise bad_request(
            f"RecordSizeKiB {record} is not valid. Valid values are "
            f"{', '.join(map(str, _RECORD_KIB))}."
        )
    for export in volume.get("NfsExports", []):
        for client in export["ClientConfigurations"]:
            _check_client(client)


def _check_client(client: Mapping[str, Any]) -> None:
    if client["Clients"] != "*":
        try:
            IPv4Network(client["Clients"], strict=False)
        except ValueError as error:
            raise bad_request(
                f"Clients {client['Clients']} must be a wildcard character (*), an IP address or "
                "a CIDR address."
            ) from error
    for option in client["Options"]:
        if not _EXPORT_OPTION.fullmatch(option):
            raise bad_request(f"'{option}' is not a valid NFS export option.")
