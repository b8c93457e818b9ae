"""Capacity reservations and Capacity Blocks, as EC2 has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from trainshed.aws import Region, accepting

# States from which there is no way back.
OVER = ("cancelled", "expired", "failed", "payment-failed", "unsupported")
# EC2 user guide, "Create a Capacity Reservation group": the type that launches may target.
_POOL = "AWS::EC2::CapacityReservationPool"
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

    def __str__(self) -> str:
        """Say what it is, and its id."""
        kind = "Capacity Block" if self.is_block else "capacity reservation"
        return f"{kind} {self.reservation_id}"

    def is_over(self, now: datetime) -> bool:
        """Say whether it takes no launch any more."""
        return self.state in OVER or (self.ends_at is not None and self.ends_at <= now)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationGroup:
    """A resource group that launches may name.

    Attributes:
        is_pool: it is of the type that launches may name.
        reservations: what is in it, of any type and zone.
    """

    is_pool: bool = True
    reservations: tuple[CapacityReservation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedCapacity:
    """The instances that some reservations hold together; each sentence names them.

    Attributes:
        total: how many instances they are for.
        free: how many of these are free.
        size: says how many they are for.
        rest: says how many of them are free.
    """

    total: int
    free: int
    size: str
    rest: str


def reserved_in(reservations: Sequence[CapacityReservation]) -> ReservedCapacity:
    """Return the instances of some reservations that are there at the same time."""
    total = sum(each.total for each in reservations)
    free = sum(each.available for each in reservations)
    names = " and ".join(map(str, reservations))
    are, have, their = ("are", "have", "their") if len(reservations) > 1 else ("is", "has", "its")
    return ReservedCapacity(
        total=total,
        free=free,
        size=f"{names} {are} for {total} instances",
        rest=f"{names} {have} {free} of {their} {total} instances free",
    )


def find_reservation(region: Region, reservation_id: str) -> CapacityReservation | None:
    """Return the reservation or block of an id, or None when there is none."""
    found = _described(region, [reservation_id])
    return found[0] if found else None


def find_group(region: Region, arn: str) -> ReservationGroup | None:
    """Return a resource group and the reservations in it, or None when there is none."""
    with accepting("NotFoundException"):
        answer = region.call("resource-groups", "get_group_configuration", Group=arn)
        types = [each["Type"] for each in answer["GroupConfiguration"].get("Configuration", ())]
        if _POOL not in types:
            return ReservationGroup(is_pool=False)
        members = region.pages(
            "resource-groups", "list_group_resources", "ResourceIdentifiers", Group=arn
        )
        ids = [each["ResourceArn"].rpartition("/")[2] for each in members]
        return ReservationGroup(reservations=_described(region, ids) if ids else ())
    return None


def most_at_once(
    reservations: Sequence[CapacityReservation], now: datetime
) -> list[CapacityReservation]:
    """Return those of the reservations that hold the most instances at one time, from now on."""
    # The number only grows where one begins.
    moments = {max(now, each.starts_at or now) for each in reservations}
    together = (
        [
            each
            for each in reservations
            if (each.starts_at or now) <= moment and (each.ends_at is None or moment < each.ends_at)
        ]
        for moment in sorted(moments)
    )
    return max(together, key=lambda some: sum(each.total for each in some), default=[])


def _described(region: Region, ids: list[str]) -> tuple[CapacityReservation, ...]:
    with accepting(*_NOT_THERE):
        answer = region.call("ec2", "describe_capacity_reservations", CapacityReservationIds=ids)
        return tuple(
            CapacityReservation(
                reservation_id=found["CapacityReservationId"],
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
            )
            for found in answer["CapacityReservations"]
        )
    return ()
