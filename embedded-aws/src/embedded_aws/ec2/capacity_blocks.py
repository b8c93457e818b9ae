"""EC2 Capacity Blocks for ML, simplified.

EC2 API reference and user guide: only types whose usage classes have `capacity-block`, in zones
that offer them; whole days up to 14, then whole weeks, up to 182 days; up to 64 instances; starts
up to 8 weeks ahead; a purchase gives a reservation of type capacity-block. Documented: blocks end
at 11:30 UTC. Offerings have no price, because the embedded AWS has no price list.
"""

from datetime import UTC, datetime, time, timedelta
from hashlib import sha256
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row, action, existing
from embedded_aws.ec2 import tables
from embedded_aws.ec2.held_capacity import new_reservation
from embedded_aws.ec2.instance_types import offering_zone_ids, require
from embedded_aws.ec2.refusals import invalid_value, missing_parameter
from embedded_aws.ec2.zones import zone_names, zone_of

_DAY = 24
_FOREMOST = timedelta(weeks=8)
_TURN = time(11, 30, tzinfo=UTC)


@action("ec2", "DescribeCapacityBlockOfferings")
def describe_capacity_block_offerings(call: Call) -> dict[str, Any]:
    """Offer the requested block in each zone that has the type, from the earliest day on."""
    params = call.params
    instance_type, hours = params.get("InstanceType"), params["CapacityDurationHours"]
    if not instance_type:
        raise missing_parameter("InstanceType")
    if "capacity-block" not in require(instance_type)["SupportedUsageClasses"]:
        raise invalid_value(f"Capacity Blocks are not supported for instance type {instance_type}.")
    days, rest = divmod(hours, _DAY)
    if rest or not (1 <= days <= 14 or (days <= 182 and days % 7 == 0)):
        raise invalid_value(
            f"CapacityDurationHours {hours} must be whole days up to 14, then whole weeks up to "
            "182 days."
        )
    count = params.get("InstanceCount", 1)
    if not 1 <= count <= 64:
        raise invalid_value(f"InstanceCount {count} must be 1 to 64.")
    start = _start(params.get("StartDateRange"))
    offerings: list[Row] = []
    latest = params.get("EndDateRange")
    end = start + timedelta(hours=hours)
    if start <= datetime.now(UTC) + _FOREMOST and (latest is None or end <= latest):
        names = zone_names(call.region)
        offerings = [
            _offering(instance_type, count, names[zone], start, hours)
            for zone in offering_zone_ids(instance_type, call.region)
            if zone in names
        ]
    tables.capacity_block_offerings(call).update(
        {offering["CapacityBlockOfferingId"]: offering for offering in offerings}
    )
    return {"CapacityBlockOfferings": offerings}


def _start(wanted: datetime | None) -> datetime:
    """Return the first 11:30 UTC after now and after the start of the requested day."""
    earliest = max(datetime.now(UTC), wanted or datetime.now(UTC))
    start = datetime.combine(earliest.date(), _TURN)
    return start if start > earliest else start + timedelta(days=1)


def _offering(instance_type: str, count: int, zone: str, start: datetime, hours: int) -> Row:
    digest = sha256(f"{instance_type}{count}{zone}{start}{hours}".encode()).hexdigest()
    return {
        "CapacityBlockOfferingId": f"cbo-{digest[:17]}",
        "InstanceType": instance_type,
        "AvailabilityZone": zone,
        "InstanceCount": count,
        "StartDate": start,
        "EndDate": start + timedelta(hours=hours),
        "CapacityBlockDurationHours": hours,
        "Tenancy": "default",
    }


@action("ec2", "PurchaseCapacityBlock")
def purchase_capacity_block(call: Call) -> dict[str, Any]:
    """Turn an offering into a scheduled reservation."""
    offering_id = call.params["CapacityBlockOfferingId"]
    offering = existing(
        tables.capacity_block_offerings(call).get(offering_id),
        "InvalidCapacityBlockOfferingId.NotFound",
        f"The Capacity Block offering {offering_id} does not exist.",
    )
    call.dry_run()
    zone = zone_of(call.region, offering["AvailabilityZone"])
    created = new_reservation(
        call,
        {
            "InstanceType": offering["InstanceType"],
            "InstancePlatform": call.params["InstancePlatform"],
            "AvailabilityZone": offering["AvailabilityZone"],
            "AvailabilityZoneId": zone[1] if zone else None,
            "TotalInstanceCount": offering["InstanceCount"],
            "InstanceMatchCriteria": "targeted",
            "EndDateType": "limited",
            "State": "scheduled",
            "StartDate": offering["StartDate"],
            "EndDate": offering["EndDate"],
            "ReservationType": "capacity-block",
            "CapacityBlockId": f"cb-{mock_random.get_random_hex(17)}",
        },
    )
    return {"CapacityReservation": created}
