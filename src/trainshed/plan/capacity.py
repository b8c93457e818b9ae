"""How nodes are bought, and whether a placement group holds them together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from trainshed.catalogue import InstanceType
from trainshed.catalogue.capacity_blocks import HOURS_MAX, ends_early
from trainshed.orchestrators import Orchestrator, traits
from trainshed.plan.calendar import Window, in_order, span
from trainshed.plan.notes import Notes
from trainshed.plan.other_types import plan_other_types
from trainshed.plan.zone import Zone
from trainshed.prices import Purchase, instance_item
from trainshed.spec import Calendar, CapacityBlock, Market, Reservation, SpotOptions, WindowSpec


class CapacityKind(StrEnum):
    """How nodes are bought."""

    ON_DEMAND = "on-demand"
    RESERVATION = "reservation"
    CAPACITY_BLOCK = "capacity-block"
    SPOT = "spot"


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """How nodes are bought.

    Attributes:
        kind: on-demand, reservation, capacity-block or spot.
        reservation_id: the `cr-...` of a reservation or block.
        reservation_group: the ARN of a resource group of reservations or blocks.
        calendar: the windows of several reservations or blocks, as they begin; the cluster has a
            resource group of them.
        own_placement_group: create a cluster placement group.
        placement_group_name: an existing cluster placement group, the reservation's.
        other_types: what EC2 may launch beside the cluster's type, in order of preference.
        max_price: the most that a Spot node may cost, in USD an hour; None for EC2's default.
    """

    kind: CapacityKind
    reservation_id: str | None = None
    reservation_group: str | None = None
    calendar: tuple[Window, ...] = ()
    own_placement_group: bool = False
    placement_group_name: str | None = None
    other_types: tuple[InstanceType, ...] = ()
    max_price: float | None = None

    @property
    def reservation_ids(self) -> tuple[str, ...]:
        """The ids of what nodes are launched into, unless a resource group has them."""
        if self.reservation_id:
            return (self.reservation_id,)
        return tuple(window.reservation_id for window in self.calendar)

    @property
    def is_reserved(self) -> bool:
        """Whether nodes are launched into reservations or Capacity Blocks."""
        return self.kind in (CapacityKind.RESERVATION, CapacityKind.CAPACITY_BLOCK)

    @property
    def target(self) -> str | None:
        """The ids or the ARN of what nodes are launched into."""
        return " and ".join(self.reservation_ids) or self.reservation_group

    def price_item(self, instance_type: str) -> str:
        """Name the price of a node; a reservation is billed at that on demand."""
        kind = self.kind
        bought = Purchase.ON_DEMAND if kind is CapacityKind.RESERVATION else Purchase(kind)
        return instance_item(bought, instance_type)

    @property
    def words(self) -> str:
        """The kind, and what there is to say of it."""
        price = None if self.max_price is None else f"at most {self.max_price:.10g} USD an hour"
        windows = ", ".join(window.words for window in self.calendar)
        return " ".join(filter(None, (self.kind, windows or self.target, price)))


def plan_capacity(
    notes: Notes, instance: InstanceType | None, region: str | None, zone: Zone | None
) -> CapacityPlan:
    """Resolve `capacity`; refuse what Batch or the type does not allow."""
    match notes.spec.capacity:
        case CapacityBlock(capacity_block=block):
            _check_sold_in_blocks(notes, "capacity.capacity_block", instance)
            notes.decide("placement group", "none", "a Capacity Block is placed by AWS as it is")
            is_group = block.startswith("arn:")
            if is_group:
                _check_group(notes, block, region)
            return CapacityPlan(
                kind=CapacityKind.CAPACITY_BLOCK,
                reservation_id=None if is_group else block,
                reservation_group=block if is_group else None,
            )
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
        case Calendar(calendar=windows):
            return _plan_calendar(notes, windows, instance)
        case Market(spot=SpotOptions(max_price=max_price), instance_types=names):
            _check_spot(notes, instance)
            kind = CapacityKind.SPOT
        case Market(instance_types=names):
            kind, max_price = CapacityKind.ON_DEMAND, None
        case _:
            kind, max_price, names = CapacityKind.ON_DEMAND, None, ()
    grouped = instance is not None and _decide_placement(notes, instance, kind)
    return CapacityPlan(
        kind=kind,
        own_placement_group=grouped,
        max_price=max_price,
        other_types=plan_other_types(notes, names, instance, region, zone, kind.value),
    )


def _plan_calendar(
    notes: Notes, windows: Sequence[WindowSpec], instance: InstanceType | None
) -> CapacityPlan:
    """Plan a group of all blocks or reservations of a calendar."""
    blocks = windows[0].capacity_block is not None
    if why := traits(notes.spec.orchestrator).no_calendar:
        others = " or ".join(each for each in Orchestrator if not traits(each).no_calendar)
        notes.problem("capacity.calendar", f"{why}; use orchestrator {others}")
    if blocks:
        _check_sold_in_blocks(notes, "capacity.calendar", instance)
    early = ends_early(notes.spec.instance.type) if blocks else timedelta()
    planned = [
        Window(
            entry=entry,
            reservation_id=each.reservation_id,
            is_block=blocks,
            begins_at=each.begins_at,
            ends_at=each.ends_at,
            ends_early=early,
        )
        for entry, each in enumerate(windows)
    ]
    for window in planned:
        hours = (window.ends_at - window.begins_at) / timedelta(hours=1)
        if blocks and hours > HOURS_MAX:
            notes.problem(
                ("capacity", "calendar", window.entry, "until"),
                f"{window.reservation_id} lasts {hours:g} hours, and the longest Capacity Block "
                f"{HOURS_MAX}; give the times that EC2 shows",
            )
        elif window.usable <= timedelta():
            notes.problem(
                ("capacity", "calendar", window.entry, "until"),
                f"{window.reservation_id} lasts {span(window.ends_at - window.begins_at)}, and EC2 "
                f"ends the nodes of a Capacity Block from {span(early)} before its end on: "
                "none would ever come; give the times that EC2 shows",
            )
    notes.decide("placement group", "none", "each block or reservation is placed as it is")
    notes.decide(
        "capacity group",
        f"of {len(windows)} {'Capacity Blocks' if blocks else 'reservations'}",
        "nodes are launched into those that are active; a change of the calendar changes this "
        "group alone, and ends no job",
    )
    return CapacityPlan(
        kind=CapacityKind.CAPACITY_BLOCK if blocks else CapacityKind.RESERVATION,
        calendar=in_order(planned),
    )


def _check_sold_in_blocks(notes: Notes, path: str, instance: InstanceType | None) -> None:
    if instance and "capacity-block" not in instance.usage_classes:
        notes.problem(
            path,
            f"{instance.name} is not sold in Capacity Blocks "
            f"(its usage classes: {', '.join(instance.usage_classes)})",
        )


def _check_spot(notes: Notes, instance: InstanceType | None) -> None:
    """Refuse Spot where the orchestrator or the type is not on it."""
    own, nodes = traits(notes.spec.orchestrator), notes.spec.instance.nodes.max
    if why := own.why_not_on_spot(nodes):
        others = " or ".join(each for each in Orchestrator if not traits(each).not_on_spot)
        fewer = f"set instance.nodes.max to {own.most_on_spot}, " if own.most_on_spot else ""
        notes.problem("capacity.spot", f"{why}; {fewer}use orchestrator {others}, or buy on demand")
    if instance and "spot" not in instance.usage_classes:
        notes.problem(
            "capacity.spot",
            f"{instance.name} is not sold on Spot "
            f"(its usage classes: {', '.join(instance.usage_classes)})",
        )


def _check_group(notes: Notes, group: str, region: str | None) -> None:
    """Refuse a resource group of another region or account than the cluster's."""
    _, _, _, its_region, its_account, _ = group.split(":")
    account = notes.spec.account
    if region and its_region != region:
        problem = f"is a resource group of {its_region}; give one of {region}"
    elif account and its_account != account:
        problem = f"is a resource group of account {its_account}; give one of {account}"
    else:
        return
    notes.problem("capacity.capacity_block", problem)


def _decide_placement(notes: Notes, instance: InstanceType, kind: CapacityKind) -> bool:
    """Say whether the cluster gets a placement group of its own."""
    if kind is CapacityKind.SPOT and notes.spec.instance.nodes.max == 1:
        notes.decide("placement group", "none", "EC2 finds one Spot node more easily without one")
        return False
    if not instance.efa_interfaces_max and notes.spec.instance.nodes.max == 1:
        notes.decide("placement group", "none", f"one node of {instance.name}, which has no EFA")
        return False
    if "cluster" not in instance.placement_strategies:
        notes.decide("placement group", "none", "the type does not support the cluster strategy")
        return False
    # AWS Batch user guide, "Compute environment considerations for MNP", asks for one for jobs of
    # several nodes; with it a TCP connection has 10 Gbps and not 5 (EC2 user guide, "Amazon EC2
    # instance network bandwidth", single-flow traffic).
    over = "use EFA" if instance.efa_interfaces_max else "work together over TCP"
    notes.decide("placement group", "cluster", f"nodes that {over} belong close to each other")
    return True
