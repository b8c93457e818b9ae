"""How nodes are bought, and whether a placement group holds them together."""

from dataclasses import dataclass
from enum import StrEnum

from trainshed.catalogue import InstanceType
from trainshed.plan.notes import Notes
from trainshed.spec import CapacityBlock, Reservation


class CapacityKind(StrEnum):
    """How nodes are bought."""

    ON_DEMAND = "on-demand"
    RESERVATION = "reservation"
    CAPACITY_BLOCK = "capacity-block"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """How nodes are bought.

    Attributes:
        kind: on-demand, reservation or capacity-block.
        reservation_id: the `cr-...` of a reservation or block.
        own_placement_group: create a cluster placement group.
        placement_group_name: an existing cluster placement group, the reservation's.
    """

    kind: CapacityKind
    reservation_id: str | None = None
    own_placement_group: bool = False
    placement_group_name: str | None = None


def plan_capacity(notes: Notes, instance: InstanceType | None) -> CapacityPlan:
    """Resolve `capacity`; refuse what Batch or the type does not allow."""
    match notes.spec.capacity:
        case CapacityBlock(capacity_block=block):
            if instance and "capacity-block" not in instance.usage_classes:
                notes.problem(
                    "capacity.capacity_block",
                    f"{instance.name} is not sold in Capacity Blocks "
                    f"(its usage classes: {', '.join(instance.usage_classes)})",
                )
            notes.decide("placement group", "none", "a Capacity Block is placed by AWS as it is")
            return CapacityPlan(kind=CapacityKind.CAPACITY_BLOCK, reservation_id=block)
        case Reservation(reservation=reservation, placement_group=group):
            reason = (
                "the one the reservation was made in"
                if group
                else "a reservation made outside a group cannot be launched into one"
            )
            notes.decide("placement group", group or "none", reason)
            return CapacityPlan(
                kind=CapacityKind.RESERVATION,
                reservation_id=reservation,
                placement_group_name=group,
            )
    grouped = instance is not None and _decide_placement(notes, instance)
    return CapacityPlan(kind=CapacityKind.ON_DEMAND, own_placement_group=grouped)


def _decide_placement(notes: Notes, instance: InstanceType) -> bool:
    """Say whether the cluster gets a placement group of its own."""
    if not instance.efa_interfaces_max:
        notes.decide("placement group", "none", f"{instance.name} has no EFA: a job has one node")
        return False
    if "cluster" not in instance.placement_strategies:
        notes.decide("placement group", "none", "the type does not support the cluster strategy")
        return False
    notes.decide("placement group", "cluster", "nodes that use EFA belong close to each other")
    return True
