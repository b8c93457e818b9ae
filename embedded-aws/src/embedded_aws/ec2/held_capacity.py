"""Capacity held for launches: the state of a reservation, and which launches it takes.

[S] EC2 API reference: a reservation is `scheduled` until its start and `expired` after its end; a
launch that targets one is of its type and in its zone, and finds `ReservationCapacityExceeded` when
it is full. [I] The other words. Launches that match an `open` reservation without naming it do not
use it up here.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Refusal, Row, existing
from embedded_aws.ec2 import tables
from embedded_aws.ec2.tags import put_tags, tags_of

ENDED = ("cancelled", "expired")


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


def target_of(call: Call, data: Any) -> Row | None:
    """Return the reservation that launch data names, or None.

    Raises:
        Refusal: there is no such reservation.
    """
    specification = data.get("CapacityReservationSpecification", {})
    target = specification.get("CapacityReservationTarget", {})
    named = target.get("CapacityReservationId")
    return shown(call, find(call, named)) if named else None


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
    reservation = target_of(call, data)
    if reservation is None:
        return
    matches = (reservation["InstanceType"], reservation["AvailabilityZone"]) == (
        instance_type,
        zone,
    )
    if reservation["State"] in ENDED or not matches:
        raise Refusal(
            "InvalidCapacityReservationId",
            f"The capacity reservation {reservation['CapacityReservationId']} is for "
            f"{reservation['InstanceType']} in {reservation['AvailabilityZone']}, state "
            f"{reservation['State']}, and does not match the launch.",
        )


def check_free(reservation: Row, count: int) -> None:
    """Refuse a launch for which the reservation has no capacity now.

    Raises:
        Refusal: it has not started, or too few instances are free.
    """
    if reservation["AvailableInstanceCount"] < count:
        raise Refusal(
            "ReservationCapacityExceeded",
            "The requested reservation does not have sufficient compatible and available "
            f"capacity for this request: {reservation['CapacityReservationId']} is "
            f"{reservation['State']} with {reservation['AvailableInstanceCount']} free.",
        )


def use(call: Call, reservation: Row, instance_ids: Iterable[str]) -> None:
    """Record that these instances were launched into the reservation."""
    reservation_id: str = reservation["CapacityReservationId"]
    tables.capacity_reservation_members(call).update(dict.fromkeys(instance_ids, reservation_id))
