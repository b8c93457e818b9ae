"""The option `--purchase`: ways to buy a node, compared."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import typer

from trainshed.catalogue import InstanceType
from trainshed.cli.output import print_json, print_records, rounded, say
from trainshed.cost import (
    HOURS_PER_MONTH,
    BoughtNode,
    amount,
    bought_node,
    purchases_of,
    withdrawn_remark,
)
from trainshed.errors import TrainshedError, UnknownName
from trainshed.plan import ClusterPlan
from trainshed.prices import OWN_FILE, PURCHASES, Price, PriceList, Purchase

_ALL = "all"
_REFRESH = "none; trainshed cost sync asks for it"
# AWS tells it for the dates of one offering only.
_ENTER = f"none; enter it into {OWN_FILE} by hand"


def purchase_option(what: str) -> Any:
    """Return the option `--purchase`.

    Args:
        what: its help.
    """
    return typer.Option("--purchase", help=what, metavar="NAME")


def wanted_purchases(instance: InstanceType, wanted: str) -> tuple[str, ...]:
    """Return the names of the ways to buy an instance that the option asks for.

    Args:
        instance: that is bought.
        wanted: the option's value.

    Raises:
        TrainshedError: there is no such way, or the instance is not sold so.
    """
    if wanted not in (_ALL, *PURCHASES):
        raise UnknownName("--purchase", wanted, (_ALL, *PURCHASES))
    sold = purchases_of(instance)
    if wanted != _ALL and wanted not in sold:
        raise TrainshedError(
            f"--purchase {wanted}: AWS does not sell {instance.name} so (its usage classes: "
            f"{', '.join(instance.usage_classes)})"
        )
    return sold if wanted == _ALL else (wanted,)


def print_purchases(plan: ClusterPlan, prices: PriceList, wanted: str, as_json: bool) -> None:
    """Print what a node of a cluster costs, of each of its types, bought in these ways.

    Args:
        plan: the cluster.
        prices: those of its region.
        wanted: the option's value.
        as_json: print JSON; by default a table for each type.
    """
    of_types = [
        [bought_node(each.name, name, prices) for name in wanted_purchases(each, wanted)]
        for each in plan.types
    ]
    bought = [each for of_type in of_types for each in of_type]
    if as_json:
        print_json(rounded([asdict(each) for each in bought]))
        return
    for of_type in of_types:
        _print_ways(plan, of_type)
    for remark in _purchase_remarks(plan, bought):
        say(f"note: {remark}")


def _print_ways(plan: ClusterPlan, bought: Sequence[BoughtNode]) -> None:
    print_records(
        [
            {
                "purchase": each.purchase,
                "price": price_words(each.price),
                "upfront": _upfront(each),
                "month": _month(each),
                "break_even": _break_even(each),
                "region": each.price.region if each.price else plan.region,
                "date": each.price and each.price.date,
                "source": source_words(each.purchase, each.price),
            }
            for each in bought
        ],
        columns=("purchase", "price", "upfront", "month", "break_even", "region", "date", "source"),
        headings={
            "purchase": "a node",
            "price": "USD/hour",
            "upfront": "upfront, USD",
            "month": f"{HOURS_PER_MONTH} hours, USD",
            "break_even": "break-even, hours/month",
        },
        title=f"Ways to buy a node of {plan.name}: {bought[0].instance_type} in {plan.region}",
    )


def _purchase_remarks(plan: ClusterPlan, bought: Sequence[BoughtNode]) -> Iterator[str]:
    names = {each.purchase for each in bought}
    if names - {Purchase.ON_DEMAND, Purchase.SPOT}:
        yield (
            "break-even: all hours of a commitment or a Capacity Block are paid for; above so many "
            f"of a month's {HOURS_PER_MONTH} it costs less than on demand"
        )
    if any("partial-upfront" in name and "savings-plan" in name for name in names):
        yield "a Savings Plan with partial upfront takes half or more of it upfront; half is shown"
    if Purchase.SPOT in names:
        yield f"spot: {plan.traits.on_spot(plan.nodes.max)}"
    if plan.instance.withdrawn:
        yield withdrawn_remark(plan.instance)


def _upfront(node: BoughtNode) -> str:
    if node.purchase == Purchase.CAPACITY_BLOCK:
        return "all of it"
    return "unknown" if node.upfront_usd is None else amount(node.upfront_usd)


def _month(node: BoughtNode) -> str:
    if node.month_usd is None:
        return "unknown"
    return " to ".join(map(amount, dict.fromkeys(node.month_usd)))


def _break_even(node: BoughtNode) -> str:
    if node.purchase in (Purchase.ON_DEMAND, Purchase.SPOT):
        return "paid by use"
    if node.break_even_hours is None:
        return "unknown"
    return "never" if node.break_even_hours > HOURS_PER_MONTH else f"{node.break_even_hours:.0f}"


def price_words(price: Price | None) -> str:
    """Return a price for a table."""
    return "unknown" if price is None else str(price)


def source_words(item: str, price: Price | None) -> str:
    """Return where a price comes from, or how it becomes known.

    Args:
        item: name of the price, or of the way to buy that it is of.
        price: the price.
    """
    if price:
        return price.source
    return _ENTER if item.startswith(Purchase.CAPACITY_BLOCK) else _REFRESH
