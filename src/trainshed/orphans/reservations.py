"""Capacity Reservations that are billed while no instance runs in them."""

from collections import defaultdict
from collections.abc import Iterator

from trainshed.account.billed import Billed
from trainshed.account.tags import CLUSTER_TAG
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.prices import Purchase, instance_item


def _reservations(place: SearchedRegion) -> Iterator[Candidate]:
    named = defaultdict[str, set[str]](set)
    for cluster in place.clusters:
        for reservation in cluster.capacity.reservation_ids:
            named[reservation].add(cluster.name)
    for each in place.region.pages(
        "ec2",
        "describe_capacity_reservations",
        "CapacityReservations",
        Filters=[{"Name": "state", "Values": ["active"]}],
    ):
        name, count = each["CapacityReservationId"], each["TotalInstanceCount"]
        tags = {tag["Key"]: tag["Value"] for tag in each.get("Tags", ())}
        users = named[name] | {tags[key] for key in (CLUSTER_TAG,) if key in tags}
        # EC2 user guide, "Shared Capacity Reservations": those of other accounts are listed, too.
        ours = users and each["OwnerId"] == place.account
        # EC2 user guide, "Capacity Blocks pricing and billing": a block is paid for beforehand,
        # and cannot be cancelled.
        block = each.get("ReservationType") == "capacity-block"
        in_use = any(map(place.ownership.has_stack, users))
        if not ours or block or in_use or each["AvailableInstanceCount"] < count:
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
        types=("AWS::EC2::CapacityReservation",),
        actions=("ec2:DescribeCapacityReservations",),
        find=_reservations,
    ),
)
