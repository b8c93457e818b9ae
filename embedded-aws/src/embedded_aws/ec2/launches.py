"""A launch: instance type, subnet and launch data together, and what EC2 refuses about them.

Used by RunInstances and by Batch's compute environments. Documented: words of `Unsupported` (type
not offered in the zone), of groups of another VPC, of unknown types and of a subnet without enough
addresses. Documented: a capacity-block launch needs a reservation target. Documented: 5 addresses
of every subnet are AWS's own; an `efa-only` interface has no address.
"""

from ipaddress import ip_network

from embedded_aws.actions import Call, Refusal
from embedded_aws.ec2 import held_capacity
from embedded_aws.ec2.instance_types import Record, offering_zone_ids, require
from embedded_aws.ec2.interfaces_in_use import interfaces
from embedded_aws.ec2.launch_templates import TemplateData
from embedded_aws.ec2.network_interfaces import check_interfaces, check_primary, kind_of
from embedded_aws.ec2.refusals import invalid_combination, invalid_value
from embedded_aws.ec2.subnets import check_groups, subnet_of
from embedded_aws.ec2.zones import zone_names

_RESERVED_ADDRESSES = 5


def check_launch(
    call: Call, instance_type: str, subnet_id: str | None, data: TemplateData, count: int = 1
) -> None:
    """Refuse a launch that EC2 refuses.

    Args:
        call: the launch, or what would launch later.
        instance_type: for instance `trn1.32xlarge`.
        subnet_id: of the subnet, or None for the default one.
        data: everything else, as a launch template holds it.
        count: instances.

    Raises:
        Refusal: as EC2 does.
    """
    record = require(instance_type)
    _check_architecture(call, record, data)
    specified = data.get("NetworkInterfaces", [])
    check_interfaces(specified, record)
    check_primary(specified)
    market = data.get("InstanceMarketOptions", {}).get("MarketType")
    target = data.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    if market == "capacity-block" and not target:
        raise invalid_combination(
            "Launching with MarketType capacity-block requires a CapacityReservationTarget."
        )
    if market in ("capacity-block", "spot") and market not in record["SupportedUsageClasses"]:
        raise invalid_combination(
            f"Instance type '{instance_type}' does not support the market type '{market}'."
        )
    if subnet_id is None:
        return
    subnet = subnet_of(call, subnet_id)
    check_offered(call.region, instance_type, subnet.availability_zone_id)
    held_capacity.check_target(call, data, instance_type, subnet.availability_zone)
    check_groups(call, data.get("SecurityGroupIds", []), subnet)
    for interface in specified:
        check_groups(call, interface.get("Groups", []), subnet)
    each = sum(kind_of(interface) != "efa-only" for interface in specified) or 1
    taken = sum(interface.subnet.id == subnet.id for interface in interfaces(call))
    free = ip_network(subnet.cidr_block).num_addresses - _RESERVED_ADDRESSES - taken
    if count * each > free:
        raise Refusal(
            "InsufficientFreeAddressesInSubnet",
            f"Insufficient free addresses in subnet '{subnet.id}'.",
        )


def _check_architecture(call: Call, record: Record, data: TemplateData) -> None:
    """Refuse an AMI of another CPU architecture than the type's.

    As others have seen it: skypilot, issue 6315.

    Raises:
        Refusal: in EC2's words.
    """
    ami = call.backend("ec2").amis.get(data.get("ImageId"))
    architectures = record["ProcessorInfo"]["SupportedArchitectures"]
    # moto registers an AMI without one where none is given.
    if ami and ami.architecture and ami.architecture not in architectures:
        raise invalid_value(
            f"The architecture '{architectures[-1]}' of the specified instance type does not match "
            f"the architecture '{ami.architecture}' of the specified AMI. Specify an instance type "
            "and an AMI that have matching architectures, and try again. You can use "
            "'describe-instance-types' or 'describe-images' to discover the architecture of the "
            "instance type or AMI."
        )


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
