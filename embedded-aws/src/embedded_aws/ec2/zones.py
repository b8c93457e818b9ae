"""Availability zones: one mapping of names and ids, used by every action.

Documented: CreateSubnet takes AvailabilityZone or AvailabilityZoneId; a subnet made by it is never
a default subnet and assigns no public addresses by default. moto does both wrong when the id is
given, and accepts zones of other regions.
"""

from collections.abc import Mapping
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend, Zone
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS

from embedded_aws.actions import Call, action, correction
from embedded_aws.admission import Caller
from embedded_aws.ec2.refusals import invalid_combination, invalid_value
from embedded_aws.faults_of_calls import derives_parameters

_SUBNET_PARAMETERS = (
    "SubnetId",
    "NetworkInterface.1.SubnetId",
    "LaunchTemplateConfigs.1.Overrides.1.SubnetId",
)


@correction
def complete_zones() -> None:
    """Give every region all zones that offer instances; moto has three for most regions."""
    for region, offerings in INSTANCE_TYPE_OFFERINGS["availability-zone-id"].items():
        known = RegionsAndZonesBackend.zones.setdefault(region, [])
        missing = sorted(
            {each["Location"] for each in offerings} - {zone.zone_id for zone in known}
        )
        taken = {zone.name for zone in known}
        free = [letter for letter in "abcdefghij" if f"{region}{letter}" not in taken]
        known.extend(
            Zone(region_name=region, name=f"{region}{letter}", zone_id=zone_id)
            for letter, zone_id in zip(free, missing, strict=False)
        )


def zone_names(region: str) -> dict[str, str]:
    """Return the name of each zone of a region by its id."""
    return {zone.zone_id: zone.name for zone in RegionsAndZonesBackend.zones.get(region, [])}


def zone_of(region: str, name_or_id: str) -> tuple[str, str] | None:
    """Return (name, id) of a zone given by either, or None when the region has no such zone."""
    for zone_id, name in zone_names(region).items():
        if name_or_id in (name, zone_id):
            return name, zone_id
    return None


@derives_parameters("ec2", "RunInstances", "CreateFleet")
def _zone_of_launch(caller: Caller, parameters: Mapping[str, str]) -> Mapping[str, str]:
    """Return the zone of a launch, named by itself or by its subnet, if either is named."""
    ec2 = ec2_backends[caller.account][caller.region]
    named = {parameters.get(name) for name in _SUBNET_PARAMETERS}
    template = "LaunchTemplateConfigs.1.LaunchTemplateSpecification.LaunchTemplate"
    for found in ec2.launch_templates.values():
        if found.id == parameters.get(f"{template}Id") or found.name == parameters.get(
            f"{template}Name"
        ):
            data = found.latest_version().data
            named |= {each.get("SubnetId") for each in data.get("NetworkInterfaces", [])}
    for subnet in ec2.describe_subnets():
        if subnet.id in named - {None}:
            return {"AvailabilityZone": str(subnet.availability_zone)}
    named_zone = parameters.get("Placement.AvailabilityZone")
    return {"AvailabilityZone": named_zone} if named_zone else {}


@action("ec2", "CreateSubnet")
def create_subnet(call: Call) -> Any:
    """Create a subnet in a zone of this region, given by name or by id."""
    name, zone_id = call.params.get("AvailabilityZone"), call.params.get("AvailabilityZoneId")
    if name and zone_id:
        raise invalid_combination(
            "Either AvailabilityZone or AvailabilityZoneId can be specified, not both."
        )
    asked = zone_id or name
    names = sorted(zone_names(call.region).values())
    zone = zone_of(call.region, asked) if asked else (names[0], "")
    if zone is None or asked not in (None, zone[1] if zone_id else zone[0]):
        parameter = "availabilityZoneId" if zone_id else "availabilityZone"
        raise invalid_value(
            f"Value ({asked}) for parameter {parameter} is invalid. Subnets can currently only "
            f"be created in the following availability zones: "
            f"{', '.join(sorted(zone_names(call.region)) if zone_id else names)}."
        )
    call.response.params["AvailabilityZone"] = zone[0]
    call.response.params.pop("AvailabilityZoneId", None)
    answer = call.moto()
    subnet = answer.result["Subnet"]
    subnet.default_for_az = False
    subnet.map_public_ip_on_launch = False
    return answer
