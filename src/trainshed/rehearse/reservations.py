"""What a rehearsed cluster launches into: the reservations and Capacity Blocks that it names.

An embedded AWS of a rehearsal's own has none of them, and gives those that are made other ids.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from embedded_aws.embedded import EmbeddedAws
from trainshed.catalogue.capacity_blocks import NODES_MAX
from trainshed.errors import TrainshedError
from trainshed.plan import CapacityKind, ClusterPlan

_ID = re.compile(r"cr-[0-9a-f]+")
_PLATFORM = "Linux/UNIX"
_HOURS = 24


def check_reservable(plan: ClusterPlan) -> None:
    """Refuse capacity of which the cluster file does not say what it is.

    Raises:
        TrainshedError: it is a resource group.
    """
    if plan.capacity.reservation_group:
        raise TrainshedError(
            f"{plan.name} is launched into a resource group of your own, and its file does not say "
            "which Capacity Blocks are in it; for this rehearsal, give the id of one: "
            "capacity: {capacity_block: cr-...}"
        )


def reserve(
    aws: EmbeddedAws, plan: ClusterPlan, templates: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Make what a cluster is launched into, for all of its nodes; return templates that name it.

    Of several Capacity Blocks the first begins now, and the others later.

    Args:
        aws: where the cluster will be.
        plan: of the cluster.
        templates: of its stacks.
    """
    named = plan.capacity.reservation_ids
    blocks = plan.capacity.kind is CapacityKind.CAPACITY_BLOCK
    made = [_buy_block(aws, plan) if blocks else _make_reservation(aws, plan) for _ in named]
    if blocks and made:
        aws.begin_block(made[0])
    own = dict(zip(named, made, strict=True))
    text = _ID.sub(lambda found: own.get(found[0], found[0]), json.dumps(templates))
    changed: dict[str, Mapping[str, Any]] = json.loads(text)
    return changed


def _buy_block(aws: EmbeddedAws, plan: ClusterPlan) -> str:
    ec2 = aws.client("ec2")
    offerings = ec2.describe_capacity_block_offerings(
        InstanceType=plan.instance.name,
        InstanceCount=min(plan.nodes.max, NODES_MAX),
        CapacityDurationHours=_HOURS,
    )["CapacityBlockOfferings"]
    zone = _zone_name(aws, plan)
    [offering] = [each for each in offerings if each["AvailabilityZone"] == zone]
    bought = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform=_PLATFORM
    )
    return str(bought["CapacityReservation"]["CapacityReservationId"])


def _make_reservation(aws: EmbeddedAws, plan: ClusterPlan) -> str:
    ec2, options = aws.client("ec2"), {}
    if group := plan.capacity.placement_group_name:
        made = ec2.create_placement_group(GroupName=group, Strategy="cluster")
        options["PlacementGroupArn"] = made["PlacementGroup"]["GroupArn"]
    reserved = ec2.create_capacity_reservation(
        InstanceType=plan.instance.name,
        InstancePlatform=_PLATFORM,
        AvailabilityZone=_zone_name(aws, plan),
        InstanceCount=plan.nodes.max,
        InstanceMatchCriteria="targeted",
        **options,
    )
    return str(reserved["CapacityReservation"]["CapacityReservationId"])


def _zone_name(aws: EmbeddedAws, plan: ClusterPlan) -> str:
    """Return the name of a cluster's zone, whose id its plan may have."""
    zones = aws.client("ec2").describe_availability_zones()["AvailabilityZones"]
    [name] = {
        str(each["ZoneName"])
        for each in zones
        if plan.zone.name in (each["ZoneId"], each["ZoneName"])
    }
    return name
