"""The cost of one cluster: what its plan has, times what that costs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from trainshed.catalogue import InstanceType
from trainshed.cost.model import (
    HOURS_PER_MONTH,
    CostRow,
    Run,
    Total,
    TypeCost,
    Way,
    cost_row,
    total,
)
from trainshed.errors import TrainshedError
from trainshed.parts.cluster import planned_cluster
from trainshed.parts.model import Charge, inside_out
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.prices import PriceList, Purchase, instance_item

# Ten years: what is longer is a slip.
_MOST_HOURS = 87_600


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCost:
    """What a cluster costs.

    Attributes:
        name: the cluster.
        file: where it is described.
        region: whose prices these are.
        rows: the components.
        ways: how else its nodes could be bought.
        idle: an hour in which no job runs.
        full: an hour at full size.
        run: the run that was asked about, if one was.
        in_windows: nodes are there in the windows of a calendar only, so that what an hour costs
            says nothing of a month.
        by_type: with nodes of several types: the totals, if all nodes are of one of them; the other
            figures are those of the first.
        remarks: what to know before the figures are used.
    """

    name: str
    file: str
    region: str
    rows: tuple[CostRow, ...]
    ways: tuple[Way, ...]
    idle: Total
    full: Total
    run: Run | None
    in_windows: bool
    by_type: tuple[TypeCost, ...]
    remarks: tuple[str, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The components that some total does not count, because nobody knows their price."""
        run = self.run.cost.unknown if self.run else ()
        return tuple(dict.fromkeys((*self.full.unknown, *self.idle.unknown, *run)))

    @property
    def idle_month(self) -> Total | None:
        """A month in which no job runs."""
        return None if self.in_windows else self.idle.times(HOURS_PER_MONTH)

    @property
    def full_month(self) -> Total | None:
        """A month at full size, all of the time."""
        return None if self.in_windows else self.full.times(HOURS_PER_MONTH)


def cluster_cost(
    plan: ClusterPlan, prices: PriceList, *, nodes: int | None = None, hours: float | None = None
) -> ClusterCost:
    """Work out what a cluster costs.

    Args:
        plan: the cluster.
        prices: those of its region.
        nodes: that a run takes; by default all.
        hours: how long the run lasts; None for no run.

    Raises:
        TrainshedError: the cluster never has so many nodes, or the hours are none.
    """
    billed = None
    if hours is not None:
        nodes = _run_nodes(plan, nodes, hours)
        billed = max(nodes, plan.nodes.min)
    elif nodes is not None:
        raise TrainshedError(
            f"{nodes} nodes are those of a run; say for how many hours it lasts, too: --hours"
        )
    charges = [charge for each in inside_out(planned_cluster(plan)) for charge in each.charges]
    charges.sort(key=lambda charge: charge.by_use)
    rows = tuple(cost_row(each, prices, billed) for each in charges)
    idle, full, an_hour = _totals(rows)
    run = None
    if nodes and billed is not None and hours is not None:
        run = Run(nodes=nodes, billed_nodes=billed, hours=hours, cost=an_hour.times(hours))
    return ClusterCost(
        name=plan.name,
        file=plan.where.file,
        region=plan.region,
        rows=rows,
        ways=tuple(_ways(plan, prices)),
        idle=idle,
        full=full,
        run=run,
        in_windows=bool(plan.capacity.calendar),
        by_type=tuple(_by_type(plan, prices, charges, billed, hours)),
        remarks=(*_stand_ins(plan, rows), *_windows(plan, prices), *_remarks(plan, prices)),
    )


def running_cost(plan: ClusterPlan, prices: PriceList, nodes: int) -> Total:
    """Work out what an hour costs with so many nodes, whatever its orchestrator wants.

    Args:
        plan: the cluster.
        prices: those of its region.
        nodes: that are there.
    """
    rows = []
    for each in inside_out(planned_cluster(plan)):
        for charge in each.charges:
            if charge.per_node:
                charge = replace(charge, least=nodes, most=max(nodes, charge.most))
            rows.append(cost_row(charge, prices, nodes))
    _, _, running = _totals(rows)
    return running


def _totals(rows: Iterable[CostRow]) -> tuple[Total, Total, Total]:
    """Add up an hour in which no job runs, one at full size and one of a run."""
    counted = [row for row in rows if not row.by_use]
    return (
        total((row.component, row.idle_usd_per_hour) for row in counted),
        total((row.component, row.full_usd_per_hour) for row in counted),
        total((row.component, row.run_usd_per_hour) for row in counted),
    )


def _by_type(
    plan: ClusterPlan,
    prices: PriceList,
    charges: Sequence[Charge],
    billed: int | None,
    hours: float | None,
) -> Iterator[TypeCost]:
    """Yield the totals with all nodes of each of several types; nothing for one type."""
    if not plan.capacity.other_types:
        return
    bought = Purchase(plan.capacity.kind)
    nodes = instance_item(bought, plan.instance.name)
    for instance in plan.types:
        item = instance_item(bought, instance.name)
        idle, full, an_hour = _totals(
            cost_row(replace(each, item=item) if each.item == nodes else each, prices, billed)
            for each in charges
        )
        yield TypeCost(
            instance_type=instance.name,
            price=prices.price(item),
            idle=idle,
            full=full,
            run=None if hours is None else an_hour.times(hours),
        )


def _run_nodes(plan: ClusterPlan, nodes: int | None, hours: float) -> int:
    most = plan.nodes.max
    asked = most if nodes is None else nodes
    if not 1 <= asked <= most:
        raise TrainshedError(
            f"a run on {asked} nodes: {plan.name} has 1 to {most} (instance.nodes.max)"
        )
    # Also false for what is not a number.
    if not 0 < hours <= _MOST_HOURS:
        raise TrainshedError(
            f"a run of {hours:g} hours: give a number above 0, at most {_MOST_HOURS}"
        )
    return asked


def _ways(plan: ClusterPlan, prices: PriceList) -> Iterator[Way]:
    on_spot = plan.traits.on_spot(plan.nodes.max)
    remarks = {
        Purchase.ON_DEMAND: "a reservation costs the same, also while its nodes do not run",
        Purchase.SPOT: f"an order of magnitude; {on_spot}",
        Purchase.CAPACITY_BLOCK: "paid when it is bought, whatever of it is used",
    }
    for purchase, remark in remarks.items():
        if purchase in plan.instance.usage_classes:
            price = prices.price(instance_item(purchase, plan.instance.name))
            yield Way(purchase=purchase, price=price, remark=remark)


def withdrawn_remark(instance: InstanceType) -> str:
    """Say of a withdrawn type that its prices do not mean much."""
    return (
        f"the EC2 API has not listed {instance.name} since {instance.lifecycle.first_missing}: "
        "that it has a price does not mean that it can be launched"
    )


def _stand_ins(plan: ClusterPlan, rows: Iterable[CostRow]) -> Iterator[str]:
    for row in rows:
        if row.price and row.price.region != plan.region:
            yield (
                f"{row.component}: the price of {row.price.region}, which has the same prices on "
                f"demand, is used for {plan.region}, whose own price is not known"
            )


def _windows(plan: ClusterPlan, prices: PriceList) -> Iterator[str]:
    """Say what all windows of a calendar cost: an hour is that of one window."""
    calendar = plan.capacity.calendar
    if not calendar:
        return
    hours = sum((each.ends_at - each.begins_at) / timedelta(hours=1) for each in calendar)
    blocks = plan.capacity.kind is CapacityKind.CAPACITY_BLOCK
    bought = Purchase.CAPACITY_BLOCK if blocks else Purchase.ON_DEMAND
    price = prices.price(instance_item(bought, plan.instance.name))
    nodes = plan.nodes.max
    amount = f"{price.usd * hours * nodes:,.2f} USD" if price else "an unknown sum"
    when = "paid when each is bought" if blocks else "at the price on demand"
    yield (
        f"the windows of the calendar have {hours:,.10g} hours: {nodes} nodes cost {amount} in "
        f"them, {when}; what is shown for an hour is within a window"
    )


def _remarks(plan: ClusterPlan, prices: PriceList) -> Iterator[str]:
    if plan.instance.withdrawn:
        yield withdrawn_remark(plan.instance)
    if plan.capacity.other_types:
        others = " or ".join(each.name for each in plan.capacity.other_types)
        yield (
            f"EC2 may launch {others} in place of {plan.instance.name}: all figures but those by "
            f"type are for nodes of {plan.instance.name}"
        )
    if plan.capacity.kind is CapacityKind.SPOT:
        yield (
            "Spot prices change, and differ by zone: totals count the highest that was seen in the "
            "region"
        )
    if plan.capacity.target:
        are = "are" if plan.capacity.calendar else "is"
        yield (
            f"{plan.capacity.target} {are} taken to hold {plan.nodes.max} "
            f"instances{' each' if plan.capacity.calendar else ''}, which are paid for whether "
            "they run or not"
        )
    for storage in plan.storages:
        if storage.existing:
            yield f"{storage.existing} is there already; what it costs is not counted"
    if plan.network.vpc_id:
        yield f"{plan.network.vpc_id} is there already; its NAT gateways and endpoints are not "
        "counted"
    s3 = "other buckets of S3, requests to S3" if plan.bucket else "S3"
    yield (
        f"not priced: {s3}, data that leaves the region, snapshots of AMIs, "
        "KMS keys, and the functions that run during a deployment"
    )
