"""Capacity reservations and Capacity Blocks, as EC2 has them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from trainshed.aws import Region, accepting

# EC2 user guide, "Capacity Blocks for ML": instances are ended from 30 minutes before the end on.
BLOCK_ENDS_EARLY = timedelta(minutes=30)
# States from which there is no way back.
OVER = ("cancelled", "expired", "failed", "payment-failed", "unsupported")
_NOT_THERE = ("InvalidCapacityReservationId.NotFound", "InvalidCapacityReservationId.Malformed")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityReservation:
    """The capacity reservation or Capacity Block that nodes are launched into.

    Attributes:
        reservation_id: the `cr-...`.
        is_block: it is a Capacity Block.
        state: active, scheduled, expired and others.
        starts_at: when it begins; None when it has always been there.
        ends_at: when it ends; None when it does not.
        total: how many instances it is for.
        available: how many of these are free.
        instance_type: the type of these.
        platform: for instance `Linux/UNIX`.
        zone_name: for instance `us-west-2d`.
        zone_id: for instance `usw2-az4`.
        tenancy: default or dedicated.
        placement_group_arn: of the placement group that it was made in, or None.
    """

    reservation_id: str
    is_block: bool
    state: str
    starts_at: datetime | None
    ends_at: datetime | None
    total: int
    available: int
    instance_type: str = ""
    platform: str = ""
    zone_name: str = ""
    zone_id: str = ""
    tenancy: str = "default"
    placement_group_arn: str | None = None

    def __str__(self) -> str:
        """Say what it is, and its id."""
        kind = "Capacity Block" if self.is_block else "capacity reservation"
        return f"{kind} {self.reservation_id}"


def find_reservation(region: Region, reservation_id: str) -> CapacityReservation | None:
    """Return the reservation or block of an id, or None when there is none."""
    with accepting(*_NOT_THERE):
        answer = region.call(
            "ec2", "describe_capacity_reservations", CapacityReservationIds=[reservation_id]
        )
        for found in answer["CapacityReservations"]:
            return CapacityReservation(
                reservation_id=reservation_id,
                is_block=found.get("ReservationType") == "capacity-block",
                state=found["State"],
                starts_at=found.get("StartDate"),
                ends_at=found.get("EndDate"),
                total=found["TotalInstanceCount"],
                available=found["AvailableInstanceCount"],
                instance_type=found.get("InstanceType", ""),
                platform=found.get("InstancePlatform", ""),
                zone_name=found.get("AvailabilityZone", ""),
                zone_id=found.get("AvailabilityZoneId", ""),
                tenancy=found.get("Tenancy", "default"),
                placement_group_arn=found.get("PlacementGroupArn"),
            )
    return None
