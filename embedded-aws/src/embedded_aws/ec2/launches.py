"""A launch: instance type, subnet and launch data together, and what EC2 refuses about them.

Used by RunInstances and by Batch's compute environments.
[S] Words of `Unsupported` (type not offered in the zone), of groups of another VPC, of unknown
types and of a subnet without enough addresses. [S] A capacity-block launch needs a reservation
target.
[S] 5 addresses of every subnet are AWS's own; an `efa-only` interface has no address.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any

from embedded_aws.actions import Call, Refusal
from embedded_aws.ec2 import held_capacity
from embedded_aws.ec2.instance_types import offering_zone_ids, require
from embedded_aws.ec2.interfaces_in_use import interfaces
from embedded_aws.ec2.launch_templates import TemplateData
from embedded_aws.ec2.network_interfaces import (
    check_interfaces,
    check_primary,
    kind_of,
)
from embedded_aws.ec2.refusals import invalid_combination
from embedded_aws.ec2.subnets import check_groups, subnet_of
from embedded_aws.ec2.zones import zone_names

_RESERVED_ADDRESSES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The launch to check.

    Attributes:
        instance_type: for instance `trn1.32xlarge`.
        subnet_id: of the subnet, or None for the default one.
        data: everything else, as a launch template holds it.
        count: instances.
    """

    instance_type: str
    subnet_id: str | None
    data: TemplateData
    count: int = 1


def check_launch(call: Call, launch: Launch) -> None:
    """Refuse a launch that EC2 refuses.

    Raises:
        Refusal: as EC2 does.
    """
    record = require(launch.instance_type)
    specified = launch.data.get("NetworkInterfaces", [])
    check_interfaces(specified, record)
    check_primary(specified)
    market = launch.data.get("InstanceMarketOptions", {}).get("MarketType")
    target = launch.data.get("CapacityReservationSpecification", {}).get(
        "CapacityReservationTarget", {}
    )
    if market == "capacity-block" and not target:
        raise invalid_combination(
            "Launching with MarketType capacity-block requires a CapacityReservationTarget."
        )
    if market in ("capacity-block", "spot") and market not in record["SupportedUsageClasses"]:
        raise invalid_combination(
            f"Instance type '{launch.instance_type}' does not support the market type '{market}'."
        )
    if launch.subnet_id is not None:
        _check_subnet(call, launch, specified)


def check_offered(region: str, instance_type: str, zone_id: str) -> None:
    """Refuse a type that a zone does not offer.

    Raises:
        Refusal: `Unsupported`, with the zones that do offer it.
    """
    offering = offering_zone_ids(instance_type, region)
    if zone_id in offering:
        return
    names = zone_names(region)
    others = ", ".join(sorted(names[zone] for zone in offering if zone in names))
    remedy = (
        f"Please retry your request by not specifying an Availability Zone or choosing {others}."
        if others
        else f"No Availability Zone of {region} supports it."
    )
    raise Refusal(
        "Unsupported",
        f"Your requested instance type ({instance_type}) is not supported in your requested "
        f"Availability Zone ({names.get(zone_id, zone_id)}). {remedy}",
    )


def _check_subnet(call: Call, launch: Launch, specified: Sequence[Any]) -> None:
    assert launch.subnet_id is not None
    subnet = subnet_of(call, launch.subnet_id)
    check_offered(call.region, launch.instance_type, subnet.availability_zone_id)
    held_capacity.check_target(call, launch.data, launch.instance_type, subnet.availability_zone)
    check_groups(call, launch.data.get("SecurityGroupIds", []), subnet)
    for interface in specified:
        check_groups(call, interface.get("Groups", []), subnet)
    each = sum(kind_of(interface) != "efa-only" for interface in specified) or 1
    taken = sum(interface.subnet.id == subnet.id for interface in interfaces(call))
    free = ip_network(subnet.cidr_block).num_addresses - _RESERVED_ADDRESSES - taken
    if launch.count * each > free:
        raise Refusal(
            "InsufficientFreeAddressesInSubnet",
            f"Insufficient free addresses in subnet '{subnet.id}'.",
        )
