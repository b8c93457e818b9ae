"""Capacity held for launches: the state of a reservation, and which launches it takes.

EC2 API reference: a reservation is `scheduled` until its start and `expired` after its end; a
launch that targets one is of its type and in its zone, and finds `ReservationCapacityExceeded` when
it is full. EC2 user guide, "Launch instances into Capacity Reservations in a group": a launch uses
the matching ones of a resource group; what finds no room in one runs on demand, but with the market
capacity-block, which uses only Capacity Blocks, or the preference capacity-reservations-only.
EC2 user guide, "How Capacity Blocks work": EC2 begins to end instances 30 minutes before the end.
Inferred: none is launched from then on; the other words. Launches that match an `open` reservation
without naming it do not use it up here.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, existing
from embedded_aws.ec2 import tables
from embedded_aws.ec2.tags import put_tags, tags_of
from embedded_aws.resource_groups.pools import reservation_ids

ENDED = ("cancelled", "expired")
# Of a Capacity Block: from the end of its instances until its own.
BLOCK_ENDS_EARLY = timedelta(minutes=30)


def find(call: Call, reservation_id: str) -> Row:
    """Return a capacity reservation as it was made; `shown` adds its present state.

    Raises:
        Refusal: there is none.
    """
    return existing(
        tables.capacity_reservations(call).get(reservation_id),
        "InvalidCapacityReservationId.NotFound",
        f"The capacity reservation ID '{reservation_id}' does not exist",
    )


def new_reservation(call: Call, fields: Row) -> Row:
    """Store a reservation and return it as the API shows it.

    Args:
        call: the creating call, whose tags it gets.
        fields: the other fields of the reservation.
    """
    reservation_id = f"cr-{mock_random.get_random_hex(17)}"
    put_tags(call, "capacity-reservation", reservation_id)
    now = datetime.now(UTC)
    reservation: Row = {
        "CapacityReservationId": reservation_id,
        "OwnerId": call.account,
        "CapacityReservationArn": call.arn("ec2", f"capacity-reservation/{reservation_id}"),
        "Tenancy": "default",
        "EbsOptimized": False,
        "EphemeralStorage": False,
        "State": "active",
        "StartDate": now,
        "CreateDate": now,
        "ReservationType": "default",
        **{key: value for key, value in fields.items() if value is not None},
    }
    tables.capacity_reservations(call)[reservation_id] = reservation
    return shown(call, reservation)


def shown(call: Call, reservation: Row) -> Row:
    """Return a reservation with its state at this time, free instances and tags."""
    state, now = reservation["State"], datetime.now(UTC)
    if state not in ENDED and reservation.get("EndDate", now) < now:
        state = "expired"
    elif state == "scheduled" and reservation["StartDate"] <= now:
        state = "active"
    free = reservation["TotalInstanceCount"] - used(call, reservation) if state == "active" else 0
    if _is_block(reservation) and reservation["EndDate"] - now <= BLOCK_ENDS_EARLY:
        free = 0
    return {
        **reservation,
        "State": state,
        "AvailableInstanceCount": free,
        "Tags": tags_of(call, reservation["CapacityReservationId"]),
    }


def in_group(call: Call, group_arn: str) -> list[Row]:
    """Return the reservations that hold capacity in a placement group, now or later."""
    return [
        reservation
        for reservation in tables.capacity_reservations(call).values()
        if reservation.get("PlacementGroupArn") == group_arn
        and shown(call, reservation)["State"] not in ENDED
    ]


def used(call: Call, reservation: Row) -> int:
    """Return the number of instances that run in a reservation."""
    members = tables.capacity_reservation_members(call)
    return sum(
        members.get(instance.id) == reservation["CapacityReservationId"]
        and instance.state != "terminated"
        for instance in call.backend("ec2").all_instances()
    )


def check_target(call: Call, data: Any, instance_type: str, zone: str) -> None:
    """Refuse launch data that targets a reservation of another type or zone, or an ended one.

    Args:
        call: the launch.
        data: as a launch template holds it.
        instance_type: for instance `trn1.32xlarge`.
        zone: the zone name of the launch's subnet.

    Raises:
        Refusal: as EC2 does.
    """
    target = _target(data)
    if group := target.get("CapacityReservationResourceGroupArn"):
        reservation_ids(call, group)
    if named := target.get("CapacityReservationId"):
        reservation = shown(call, find(call, named))
        if reservation["State"] in ENDED or not _is_for(reservation, instance_type, zone):
            raise Refusal(
                "InvalidCapacityReservationId",
                f"The capacity reservation {named} is for "
                f"{reservation['InstanceType']} in {reservation['AvailabilityZone']}, state "
                f"{reservation['State']}, and does not match the launch.",
            )


def places(call: Call, data: Any, instance_type: str, zone: str, count: int) -> Sequence[str]:
    """Return the reservation of each instance of a launch; those after the last run on demand.

    Args:
        call: the launch.
        data: as a launch template holds it.
        instance_type: for instance `trn1.32xlarge`.
        zone: the zone name of the launch's subnet.
        count: instances.

    Raises:
        Refusal: the target has not started, or too few instances are free.
    """
    target = _target(data)
    if named := target.get("CapacityReservationId"):
        reservation = shown(call, find(call, named))
        free = reservation["AvailableInstanceCount"]
        _check_free(f"{named} is {reservation['State']}", free, count)
        return [named] * count
    if group := target.get("CapacityReservationResourceGroupArn"):
        in_blocks = data.get("InstanceMarketOptions", {}).get("MarketType") == "capacity-block"
        pool = [shown(call, find(call, each)) for each in reservation_ids(call, group)]
        free_places = [
            reservation["CapacityReservationId"]
            for reservation in pool
            if _is_for(reservation, instance_type, zone) and _is_block(reservation) == in_blocks
            for _ in range(reservation["AvailableInstanceCount"])
        ]
        if in_blocks or _reserved_only(data):
            _check_free(group, len(free_places), count)
        return free_places[:count]
    return []


def use(call: Call, instance_ids: Iterable[str], reservations: Sequence[str]) -> None:
    """Record which reservations these instances were launched into, as `places` returned them."""
    members = tables.capacity_reservation_members(call)
    members.update(zip(instance_ids, reservations, strict=False))


def _target(data: Any) -> Row:
    specification = data.get("CapacityReservationSpecification", {})
    target: Row = specification.get("CapacityReservationTarget", {})
    return target


def _reserved_only(data: Any) -> bool:
    specification: Row = data.get("CapacityReservationSpecification", {})
    return specification.get("CapacityReservationPreference") == "capacity-reservations-only"


def _is_block(reservation: Row) -> bool:
    return bool(reservation["ReservationType"] == "capacity-block")


def _is_for(reservation: Row, instance_type: str, zone: str) -> bool:
    return (reservation["InstanceType"], reservation["AvailabilityZone"]) == (instance_type, zone)


def _check_free(target: str, free: int, count: int) -> None:
    if free < count:
        raise Refusal(
            "ReservationCapacityExceeded",
            "The requested reservation does not have sufficient compatible and available "
            f"capacity for this request: {target} with {free} free.",
        )
