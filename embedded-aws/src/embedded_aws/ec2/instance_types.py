"""The instance types that exist as of the embedded AWS's day, and where they are offered.

DescribeInstanceTypes and DescribeInstanceTypeOfferings: an unknown type raises InvalidInstanceType;
a type that no zone offers has no offerings. Documented: types withdrawn in 2026 (dl1, p3) are in
neither list from their last day on; their records and last zones come from plug-ins. Inferred: the
words of RunInstances for a withdrawn type. moto's lists have the zone names of another account than
its DescribeAvailabilityZones; here names always come from zone ids by that one mapping.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES, InstanceType
from moto.ec2.utils import generic_filter

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.clock import today
from embedded_aws.ec2.filters import check_names
from embedded_aws.ec2.refusals import invalid_value
from embedded_aws.ec2.tags import select
from embedded_aws.ec2.zones import zone_names
from embedded_aws.plugins import WithdrawnType, plugins

Record = Mapping[str, Any]


@cache
def _withdrawn() -> dict[str, WithdrawnType]:
    return {name: each for plugin in plugins() for name, each in plugin.withdrawn_types().items()}


def _brought_back() -> dict[str, Record]:
    """Return the withdrawn types that still existed as of the day."""
    return {
        name: withdrawn.record
        for name, withdrawn in _withdrawn().items()
        if today() < withdrawn.first_missing
    }


def family_records(family: str) -> list[Record]:
    """Return the records of a family's types, for instance of `trn1`; empty for an unknown one."""
    records = {**INSTANCE_TYPES, **_brought_back()}
    return [record for name, record in records.items() if name.partition(".")[0] == family]


def require(name: str) -> Record:
    """Return the DescribeInstanceTypes record of a type.

    Raises:
        Refusal: there is no such type; for a withdrawn one with a hint of the embedded AWS.
    """
    record: Record | None = _brought_back().get(name) or INSTANCE_TYPES.get(name)
    if record is not None:
        return record
    message = f"Invalid value '{name}' for InstanceType."
    if withdrawn := _withdrawn().get(name):
        message += (
            f" The EC2 API stopped listing it by {withdrawn.first_missing}; the "
            "embedded AWS has it only when started as of an earlier day (--as-of)."
        )
    raise invalid_value(message)


def offering_zone_ids(name: str, region: str) -> tuple[str, ...]:
    """Return the ids of the region's zones that offer a type, sorted; none for an unknown one."""
    if name in _brought_back():
        return _withdrawn()[name].zone_ids.get(region, ())
    return _offerings(region).get(name, ())


@cache
def _offerings(region: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for offering in INSTANCE_TYPE_OFFERINGS["availability-zone-id"].get(region, []):
        found.setdefault(offering["InstanceType"], []).append(offering["Location"])
    return {name: tuple(sorted(zones)) for name, zones in found.items()}


class _Described(InstanceType):
    """A record to which moto's filters apply, without being in moto's own list."""

    def __init__(self, record: Record) -> None:
        self.update(record)


@action("ec2", "DescribeInstanceTypes")
def describe_instance_types(call: Call) -> dict[str, Any]:
    """Answer DescribeInstanceTypes as of the day."""
    records = {**INSTANCE_TYPES, **_brought_back()}
    if not call.params.get("IncludeUnsupportedInRegion"):
        records = {n: r for n, r in records.items() if offering_zone_ids(n, call.region)}
    if names := call.params.get("InstanceTypes", []):
        if unknown := sorted(set(names) - set(records)):
            raise Refusal(
                "InvalidInstanceType",
                f"The following supplied instance types do not exist: [{', '.join(unknown)}]",
            )
        records = {name: records[name] for name in names}
    check_names(call.params.get("Filters", []))
    filters = {wanted["Name"]: wanted["Values"] for wanted in call.params.get("Filters", [])}
    return {"InstanceTypes": generic_filter(filters, [_Described(r) for r in records.values()])}


@action("ec2", "DescribeInstanceTypeOfferings")
def describe_instance_type_offerings(call: Call) -> dict[str, Any]:
    """Answer DescribeInstanceTypeOfferings as of the day."""
    location_type = call.params.get("LocationType", "region")
    offerings = [
        {"InstanceType": name, "LocationType": location_type, "Location": location}
        for name in sorted({*_offerings(call.region), *_brought_back()})
        for location in _locations(name, call.region, location_type)
    ]
    filters = {"instance-type": "InstanceType", "location": "Location"}
    return {"InstanceTypeOfferings": select(call, offerings, filters)}


def _locations(name: str, region: str, location_type: str) -> Iterable[str]:
    zones = offering_zone_ids(name, region)
    if location_type == "availability-zone-id":
        return zones
    if location_type == "availability-zone":
        names = zone_names(region)
        return sorted(names[zone] for zone in zones if zone in names)
    return [region] if zones and location_type == "region" else []
