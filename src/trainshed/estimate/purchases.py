"""What one training costs, by how its nodes are bought."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trainshed.cost import Total
from trainshed.estimate.training import Estimate, Range, run_costs
from trainshed.plan import ClusterPlan
from trainshed.prices import PURCHASES, Price, PriceList, Purchase, instance_item


@dataclass(frozen=True, slots=True, kw_only=True)
class BoughtTraining:
    """What a training costs on nodes that are bought one way.

    Attributes:
        purchase: for instance `reserved-1y-no-upfront`.
        cost: of the cluster for the whole training, at the least and at the most; None without a
            time, or when the price of a node is unknown. Of what is paid for all of the time, the
            hours of the training are counted.
        cost_per_million: of the cluster for a million samples, in the same way.
    """

    purchase: str
    cost: tuple[Total, Total] | None
    cost_per_million: tuple[Total, Total] | None


def by_purchase(
    estimated: Estimate, plan: ClusterPlan, prices: PriceList, purchases: Iterable[str]
) -> Iterator[BoughtTraining]:
    """Work out what an estimated training costs, bought in these ways.

    Args:
        estimated: the training.
        plan: its cluster.
        prices: those of the cluster's region.
        purchases: names of `PURCHASES`.
    """
    for purchase in purchases:
        price = prices.price(instance_item(PURCHASES[purchase], plan.instance.name))
        cost = per_million = None
        if price:
            least = _with_nodes_at(replace(price, usd_to=None), plan, prices)
            most = _with_nodes_at(price, plan, prices)
            per_million = _costs(plan, least, most, estimated.nodes, estimated.hours_per_million)
            if estimated.hours:
                cost = _costs(plan, least, most, estimated.nodes, estimated.hours)
        yield BoughtTraining(purchase=purchase, cost=cost, cost_per_million=per_million)


def _with_nodes_at(price: Price, plan: ClusterPlan, prices: PriceList) -> PriceList:
    """Return prices in which nodes cost so much, in whichever way the cluster file buys them."""
    nodes = {instance_item(each, plan.instance.name): price for each in Purchase}
    return replace(prices, prices={**prices.prices, **nodes})


def _costs(
    plan: ClusterPlan, least: PriceList, most: PriceList, nodes: int, hours: Range
) -> tuple[Total, Total]:
    return run_costs(plan, least, nodes, hours)[0], run_costs(plan, most, nodes, hours)[1]
