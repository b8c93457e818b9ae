"""On-Demand Capacity Reservations, which moto does not have.

EC2 API reference: 1 to 1,000 instances, a type that the zone offers, a cluster placement group of
the same zone by ARN, an end date with EndDateType limited, what can be modified, no change and no
cancellation of capacity blocks. Future-dated reservations: families C, M, R, I, T and G, 32 vCPUs
or more, 5 to 120 days ahead, targeted. Inferred: the exact words. There is always capacity.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from embedded_aws.actions import Call, Refusal, Row, action
from embedded_aws.ec2 import placement_groups, tables
from embedded_aws.ec2.held_capacity import ENDED, find, in_group, new_reservation, shown, used
from embedded_aws.ec2.instance_types import require
from embedded_aws.ec2.launches import check_offered
from embedded_aws.ec2.refusals import invalid_combination, invalid_value, missing_parameter
from embedded_aws.ec2.tags import select
from embedded_aws.ec2.zones import zone_of

# C, M, R, I, T and G, with Im, Is and Gr; not Inf, Mac or Trn.
_FUTURE_FAMILIES = re.compile(r"(?:[cmrtg]|gr|i[ms]?)\d")
_FIELDS = {
    "instance-type": "InstanceType",
    "owner-id": "OwnerId",
    "instance-platform": "InstancePlatform",
    "availability-zone": "AvailabilityZone",
    "availability-zone-id": "AvailabilityZoneId",
    "tenancy": "Tenancy",
    "state": "State",
    "end-date-type": "EndDateType",
    "instance-match-criteria": "InstanceMatchCriteria",
    "placement-group-arn": "PlacementGroupArn",
}


@action("ec2", "CreateCapacityReservation")
def create_capacity_reservation(call: Call) -> dict[str, Any]:
    """Reserve capacity in one zone."""
    params = call.params
    instance_type, count = params["InstanceType"], params["InstanceCount"]
    require(instance_type)
    asked = params.get("AvailabilityZone") or params.get("AvailabilityZoneId")
    if not asked:
        raise missing_parameter("AvailabilityZone or AvailabilityZoneId")
    zone = zone_of(call.region, asked)
    if zone is None:
        raise invalid_value(f"Invalid availability zone: [{asked}]")
    check_offered(call.region, instance_type, zone[1])
    if not 1 <= count <= 1000:
        raise invalid_value(f"InstanceCount {count} must be 1 to 1000.")
    criteria = params.get("InstanceMatchCriteria", "open")
    start = _future_start(instance_type, criteria, params.get("StartDate"))
    _check_end(params.get("EndDateType", "unlimited"), params.get("EndDate"))
    if group_arn := params.get("PlacementGroupArn"):
        group = placement_groups.find(call, group_arn)
        if group["Strategy"] != "cluster":
            raise invalid_value(
                f"Placement group {group['GroupName']} must have the strategy cluster."
            )
        placement_groups.check_launch(call, group, instance_type, zone[0])
        zones = {other["AvailabilityZone"] for other in in_group(call, group["GroupArn"])} - {
            zone[0]
        }
        if zones:
            raise invalid_combination(
                f"Placement group {group['GroupName']} has capacity reservations in "
                f"{', '.join(sorted(zones))}; a cluster placement group cannot span {zone[0]}."
            )
    call.dry_run()
    created = new_reservation(
        call,
        {
            **params,
            "AvailabilityZone": zone[0],
            "AvailabilityZoneId": zone[1],
            "TotalInstanceCount": count,
            "InstanceMatchCriteria": criteria,
            "EndDateType": params.get("EndDateType", "unlimited"),
            "State": "scheduled" if start else "active",
            "StartDate": start,
        },
    )
    return {"CapacityReservation": created}


def _future_start(instance_type: str, criteria: str, start: datetime | None) -> datetime | None:
    if start is None:
        return None
    ahead = start - datetime.now(UTC)
    vcpus = require(instance_type)["VCpuInfo"]["DefaultVCpus"]
    if (
        not _FUTURE_FAMILIES.match(instance_type)
        or vcpus < 32
        or criteria != "targeted"
        or not timedelta(days=5) <= ahead <= timedelta(days=120)
    ):
        raise invalid_combination(
            "Future-dated Capacity Reservations are for C, M, R, I, T and G instance types of at "
            "least 32 vCPUs, targeted, 5 to 120 days ahead."
        )
    return start


def _check_end(kind: str, end: datetime | None) -> None:
    if (kind == "limited") != (end is not None):
        raise invalid_combination("EndDate is required with EndDateType limited, and only there.")


@action("ec2", "DescribeCapacityReservations")
def describe_capacity_reservations(call: Call) -> dict[str, Any]:
    """Describe reservations by id or filter; cancelled ones stay visible."""
    ids = call.params.get("CapacityReservationIds", []) or list(tables.capacity_reservations(call))
    found = [shown(call, find(call, reservation_id)) for reservation_id in ids]
    return {"CapacityReservations": select(call, found, _FIELDS)}


@action("ec2", "ModifyCapacityReservation")
def modify_capacity_reservation(call: Call) -> dict[str, Any]:
    """Change the number of instances or the end of an active reservation."""
    reservation = _changeable(call)
    count = call.params.get("InstanceCount", reservation["TotalInstanceCount"])
    if not max(1, used(call, reservation)) <= count <= 1000:
        raise invalid_value(
            f"InstanceCount {count} must be 1 to 1000, and no less than the instances in use."
        )
    kind = call.params.get("EndDateType", reservation["EndDateType"])
    end = call.params.get("EndDate", reservation.get("EndDate") if kind == "limited" else None)
    _check_end(kind, end)
    call.dry_run()
    reservation.update(
        TotalInstanceCount=count,
        EndDateType=kind,
        InstanceMatchCriteria=call.params.get(
            "InstanceMatchCriteria", reservation["InstanceMatchCriteria"]
        ),
    )
    reservation.pop("EndDate", None)
    if end is not None:
        reservation["EndDate"] = end
    return {"Return": True}


@action("ec2", "CancelCapacityReservation")
def cancel_capacity_reservation(call: Call) -> dict[str, Any]:
    """Cancel an active or scheduled reservation."""
    reservation = _changeable(call)
    call.dry_run()
    reservation["State"] = "cancelled"
    return {"Return": True}


def _changeable(call: Call) -> Row:
    reservation = find(call, call.params["CapacityReservationId"])
    if reservation["ReservationType"] == "capacity-block":
        raise Refusal("InvalidRequest", "Capacity Blocks cannot be modified or cancelled.")
    if shown(call, reservation)["State"] in ENDED:
        raise Refusal(
            "InvalidCapacityReservationState",
            f"The capacity reservation is in state {reservation['State']}.",
        )
    return reservation
