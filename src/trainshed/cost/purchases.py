"""The ways to buy a node, side by side: what each costs, and from how many hours it pays."""

from dataclasses import dataclass

from trainshed.catalogue import InstanceType
from trainshed.cost.model import HOURS_PER_MONTH
from trainshed.prices import (
    PURCHASES,
    Commitment,
    CommitmentKind,
    Payment,
    Price,
    PriceList,
    Purchase,
    instance_item,
)

# Savings Plans API reference, CreateSavingsPlan: with partial upfront, 50 to 99 percent.
LEAST_UPFRONT = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BoughtNode:
    """What one node costs, bought one way.

    Attributes:
        instance_type: of the node.
        purchase: for instance `reserved-1y-no-upfront`.
        price: for an hour; None when it is unknown.
        upfront_usd: paid when it is bought: 0 for what is paid by use, the least that a Savings
            Plan takes; None when it is unknown, and for a Capacity Block, which is paid at once.
        month_usd: a month in which it runs all of the time, at the least and at the most; None
            when the price is unknown.
        break_even_hours: hours a month above which it costs less than on demand, because all hours
            are paid for; None for what is paid by use, and when a price is unknown.
    """

    instance_type: str
    purchase: str
    price: Price | None
    upfront_usd: float | None
    month_usd: tuple[float, float] | None
    break_even_hours: float | None


def purchases_of(instance: InstanceType) -> tuple[str, ...]:
    """Name the ways to buy an instance; commitments are of instances that are sold on demand."""
    return tuple(
        name
        for name, purchase in PURCHASES.items()
        if (Purchase.ON_DEMAND if isinstance(purchase, Commitment) else purchase)
        in instance.usage_classes
    )


def bought_node(instance_type: str, purchase: str, prices: PriceList) -> BoughtNode:
    """Work out what a node costs.

    Args:
        instance_type: of the node.
        purchase: a name of `PURCHASES`.
        prices: those of its region.
    """
    how = PURCHASES[purchase]
    price = prices.price(instance_item(how, instance_type))
    on_demand = prices.price(instance_item(Purchase.ON_DEMAND, instance_type))
    by_use = how in (Purchase.ON_DEMAND, Purchase.SPOT)
    month = break_even = None
    if price:
        month = (price.usd * HOURS_PER_MONTH, (price.usd_to or price.usd) * HOURS_PER_MONTH)
        if on_demand and not by_use:
            break_even = price.usd / on_demand.usd * HOURS_PER_MONTH
    return BoughtNode(
        instance_type=instance_type,
        purchase=purchase,
        price=price,
        upfront_usd=0 if by_use else _upfront(how, price),
        month_usd=month,
        break_even_hours=break_even,
    )


def _upfront(how: Purchase | Commitment, price: Price | None) -> float | None:
    if not isinstance(how, Commitment):
        return None
    if how.payment is Payment.NO_UPFRONT:
        return 0
    if price is None:
        return None
    if price.upfront_usd is not None:
        return price.upfront_usd
    if how.payment is Payment.ALL_UPFRONT:
        return price.usd * how.hours
    if how.kind is CommitmentKind.RESERVED:
        return None
    return price.usd * how.hours * LEAST_UPFRONT
