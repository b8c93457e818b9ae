"""Costs: rows whose price may be unknown, and totals that name the rows they leave out."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from trainshed.parts.model import Charge
from trainshed.prices import Price, PriceList, Purchase, Unit

# 365 days of 24 hours, in twelve parts; AWS's own calculator counts a month so.
HOURS_PER_MONTH = 730


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """One component of a cluster that is paid for.

    Attributes:
        component: what it is.
        item: the name of its price.
        price: for one unit; None when it is unknown.
        idle: how many units there are while no job runs.
        full: how many there are at full size.
        run: how many there are in the run that was asked about; None without one.
        by_use: what is paid for depends on use, so that no total counts it.
    """

    component: str
    item: str
    price: Price | None
    idle: float = 0
    full: float = 0
    run: float | None = None
    by_use: bool = False

    @property
    def idle_usd_per_hour(self) -> float | None:
        """Cost of an hour in which no job runs; None when the price is unknown."""
        return self._per_hour(self.idle)

    @property
    def full_usd_per_hour(self) -> float | None:
        """Cost of an hour at full size; None when the price is unknown."""
        return self._per_hour(self.full)

    @property
    def run_usd_per_hour(self) -> float | None:
        """Cost of an hour of the run; None when the price is unknown, or without a run."""
        return None if self.run is None else self._per_hour(self.run)

    def _per_hour(self, units: float) -> float | None:
        if self.by_use:
            return None
        if not units:
            return 0.0
        if self.price is None:
            return None
        hours = 1 if self.price.unit is Unit.HOUR else HOURS_PER_MONTH
        return units * (self.price.usd_to or self.price.usd) / hours


def cost_row(charge: Charge, prices: PriceList, billed: int | None = None) -> CostRow:
    """Return what a charge costs.

    Args:
        charge: of a part of a cluster.
        prices: those of the cluster's region.
        billed: nodes that are there in a run; None for no run.
    """
    units, least, most = charge.units, charge.least, charge.most
    run = None
    if billed is not None and not charge.by_use:
        run = units * min(max(billed, least), most)
    return CostRow(
        component=charge.component,
        item=charge.item,
        price=prices.price(charge.item),
        idle=units * least,
        full=units * most,
        run=run,
        by_use=charge.by_use,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A sum of the rows whose price is known.

    Attributes:
        usd: US dollars.
        unknown: components that it does not count, because nobody knows their price.
    """

    usd: float
    unknown: tuple[str, ...] = ()

    def times(self, hours: float) -> "Total":
        """Return the same for so many hours."""
        return Total(usd=self.usd * hours, unknown=self.unknown)

    def __str__(self) -> str:
        """Return `12.34 USD`, `at least 12.34 USD` if a price is unknown, or `unknown` for all."""
        if self.unknown and not self.usd:
            return "unknown"
        return f"{'at least ' if self.unknown else ''}{amount(self.usd)} USD"


def amount(usd: float) -> str:
    """Return an amount in US dollars to the cent, and below one dollar to a tenth of a cent."""
    return f"{usd:,.2f}" if usd >= 1 or not usd else f"{usd:.3f}"


def total(costs: Iterable[tuple[str, float | None]]) -> Total:
    """Add up components with their costs, which are None where the price is unknown."""
    costs = tuple(costs)
    return Total(
        usd=math.fsum(usd for _, usd in costs if usd is not None),
        unknown=tuple(component for component, usd in costs if usd is None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one run costs: the nodes, and all that is there while it lasts.

    Attributes:
        nodes: that the run takes.
        billed_nodes: that are there, and paid for, while it lasts.
        hours: how long it lasts.
        cost: of all of it.
    """

    nodes: int
    billed_nodes: int
    hours: float
    cost: Total


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeCost:
    """What a cluster costs whose nodes are all of one of several instance types.

    Attributes:
        instance_type: of all nodes.
        price: for an hour of one node; None when it is unknown.
        idle: an hour in which no job runs.
        full: an hour at full size.
        run: the run that was asked about; None without one.
    """

    instance_type: str
    price: Price | None
    idle: Total
    full: Total
    run: Total | None

    @property
    def full_month(self) -> Total:
        """A month at full size, all of the time."""
        return self.full.times(HOURS_PER_MONTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to buy a node.

    Attributes:
        purchase: on demand, spot or in a Capacity Block.
        price: for an hour of one node; None when it is unknown.
        remark: what to know of it.
    """

    purchase: Purchase
    price: Price | None
    remark: str
