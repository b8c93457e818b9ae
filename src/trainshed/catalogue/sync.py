"""Refreshing the snapshot from a live account."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from trainshed.aws import Region
from trainshed.catalogue.lookup import interpret
from trainshed.catalogue.records import Record, belongs
from trainshed.files import LARGEST_MADE, read_text

# Any region answers DescribeRegions; this one is enabled in every account.
_HOME = "us-east-1"
DATA_FOLDER = Path(__file__).parent / "data"

# The fields of a DescribeInstanceTypes record that the catalogue keeps, with their own names.
_KEPT = {
    "InstanceType": True,
    "CurrentGeneration": True,
    "Hypervisor": True,
    "SupportedUsageClasses": True,
    "ProcessorInfo": {"SupportedArchitectures": True},
    "VCpuInfo": {"DefaultVCpus": True, "DefaultCores": True},
    "MemoryInfo": True,
    "InstanceStorageInfo": {"TotalSizeInGB": True, "Disks": True},
    "EbsInfo": {"EbsOptimizedInfo": {"BaselineBandwidthInMbps": True}},
    "NetworkInfo": {
        "NetworkPerformance": True,
        "MaximumNetworkInterfaces": True,
        "MaximumNetworkCards": True,
        "DefaultNetworkCardIndex": True,
        "NetworkCards": True,
        "Ipv4AddressesPerInterface": True,
        "EfaSupported": True,
        "EfaInfo": True,
    },
    "GpuInfo": True,
    "NeuronInfo": True,
    "InferenceAcceleratorInfo": True,
    "PlacementGroupInfo": True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a synchronisation did to the snapshot.

    Attributes:
        added: types that are new.
        withdrawn: types that no region of the snapshot offers any more.
        returned: types that were withdrawn and are offered again.
    """

    added: tuple[str, ...]
    withdrawn: tuple[str, ...]
    returned: tuple[str, ...]


def synchronise(
    regions: Iterable[Region],
    today: date,
    folder: Path,
    source: str,
    progress: Callable[[str], None],
) -> Change:
    """Refresh the snapshot in `folder` with what the EC2 API says in these regions.

    The other regions of the snapshot stay as they are. A type that no region offers any more
    moves, with its last record, to `withdrawn.json`. Nothing is written before every region has
    answered.

    Args:
        regions: the regions to ask; needs ec2:DescribeInstanceTypes,
            ec2:DescribeInstanceTypeOfferings and ec2:DescribeAvailabilityZones.
        today: the date to write into the snapshot.
        folder: where instance_types.json, offerings.json and withdrawn.json are.
        source: one line that says where the answers come from.
        progress: called with the name of each region before it is asked.

    Raises:
        TrainshedError: a record that this version cannot read.
    """
    types = _read(folder / "instance_types.json", {"records": {}})
    offerings = _read(folder / "offerings.json", {})
    withdrawn = _read(folder / "withdrawn.json", {})
    before = dict(offerings)
    records = dict(types["records"])
    for region in regions:
        progress(region.name)
        fresh = _describe_types(region)
        records |= fresh
        offerings[region.name] = {
            "date": today.isoformat(),
            "zones": _zones(region),
            "types": _offerings(region, fresh),
        }
    offered = {name for entry in offerings.values() for name in entry["types"]}
    gone = sorted(set(types["records"]) - offered)
    for name in gone:
        places = {region: entry for region, entry in before.items() if name in entry["types"]}
        withdrawn[name] = {
            "last_seen": max(entry["date"] for entry in places.values()),
            "first_missing": today.isoformat(),
            "zones": {region: entry["types"][name] for region, entry in places.items()},
            "record": records[name],
        }
    records = {name: record for name, record in records.items() if name in offered}
    returned = sorted(set(withdrawn) & offered)
    for name in returned:
        del withdrawn[name]
    _write(
        folder / "instance_types.json",
        {"source": source, "date": today.isoformat(), "records": _sorted(records)},
    )
    _write(folder / "offerings.json", _sorted(offerings))
    _write(folder / "withdrawn.json", _sorted(withdrawn))
    return Change(
        added=tuple(sorted(set(records) - set(types["records"]) - set(returned))),
        withdrawn=tuple(gone),
        returned=tuple(returned),
    )


def enabled_regions() -> tuple[str, ...]:
    """Return the regions that are enabled in the account, sorted; needs ec2:DescribeRegions."""
    answer = Region(_HOME).call("ec2", "describe_regions")
    return tuple(sorted(region["RegionName"] for region in answer["Regions"]))


def trim(record: Record, kept: Mapping[str, Any] = _KEPT) -> dict[str, Any]:
    """Return the fields of an API record that the catalogue keeps."""
    return {
        key: trim(record[key], rule) if isinstance(rule, Mapping) else record[key]
        for key, rule in kept.items()
        if key in record
    }


def _describe_types(region: Region) -> dict[str, Any]:
    records = region.pages("ec2", "describe_instance_types", "InstanceTypes")
    found = {record["InstanceType"]: trim(record) for record in records if belongs(record)}
    for record in found.values():
        interpret(record)  # better now than when the type is looked up
    return found


def _offerings(region: Region, types: Mapping[str, Any]) -> dict[str, list[str]]:
    zones: dict[str, set[str]] = {}
    for offering in region.pages(
        "ec2",
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone-id",
    ):
        if offering["InstanceType"] in types:
            zones.setdefault(offering["InstanceType"], set()).add(offering["Location"])
    return {name: sorted(found) for name, found in sorted(zones.items())}


def _zones(region: Region) -> list[str]:
    answer = region.call(
        "ec2",
        "describe_availability_zones",
        Filters=[{"Name": "zone-type", "Values": ["availability-zone"]}],
    )
    return sorted(zone["ZoneId"] for zone in answer["AvailabilityZones"])


def _sorted(entries: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(entries.items()))


def _read(path: Path, empty: dict[str, Any]) -> dict[str, Any]:
    return json.loads(read_text(path, LARGEST_MADE)) if path.exists() else empty


def _write(path: Path, data: Mapping[str, Any]) -> None:
    """Write one entry a line, so that a refresh is read as a diff of the types it changed."""
    lines = []
    for key, value in data.items():
        if isinstance(value, dict) and key == "records":
            inner = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            lines.append(f"{json.dumps(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n " + ",\n ".join(lines) + "\n}\n", encoding="utf-8")
