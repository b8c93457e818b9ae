"""Capacity Reservations that are billed while no instance runs in them."""

from collections.abc import Iterator

from trainshed.account.billed import Billed
from trainshed.account.tags import CLUSTER_TAG
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.prices import Purchase, instance_item


def _reservations(place: SearchedRegion) -> Iterator[Candidate]:
    named = {name for each in place.clusters for name in each.capacity.reservation_ids}
    for each in place.region.pages(
        "ec2",
        "describe_capacity_reservations",
        "CapacityReservations",
        Filters=[{"Name": "state", "Values": ["active"]}],
    ):
        name, count = each["CapacityReservationId"], each["TotalInstanceCount"]
        ours = name in named or any(tag["Key"] == CLUSTER_TAG for tag in each.get("Tags", ()))
        # EC2 user guide, "Capacity Blocks pricing and billing": a block is paid for beforehand,
        # and cannot be cancelled.
        block = each.get("ReservationType") == "capacity-block"
        if not ours or block or each["AvailableInstanceCount"] < count:
            continue
        # EC2 user guide, "Capacity Reservation pricing and billing": at the price on demand.
        item = instance_item(Purchase.ON_DEMAND, each["InstanceType"])
        yield Candidate(
            billed=Billed(
                what="Capacity Reservation",
                name=name,
                size=f"{count} x {each['InstanceType']}",
                since=each.get("CreateDate"),
                charges=((item, count),),
                command=f"aws ec2 cancel-capacity-reservation --capacity-reservation-id {name}",
            ),
            why="no instance runs in it, and it is billed as if all did",
        )


RESERVATION_LOOKS = (
    OrphanSearch(
        at="Capacity Reservations",
        actions=("ec2:DescribeCapacityReservations",),
        find=_reservations,
    ),
)
