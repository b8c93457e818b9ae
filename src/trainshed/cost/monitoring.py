"""What the monitoring of a cluster costs, and how much that is beside its nodes."""

from dataclasses import dataclass

from trainshed.cost.model import HOURS_PER_MONTH, Total, cost_row, total
from trainshed.parts.monitoring import monitoring_charges
from trainshed.plan import ClusterPlan
from trainshed.prices import PriceList


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringCost:
    """What the monitoring of a cluster costs at full size, all of the time.

    Attributes:
        month: in a month.
        percent: of what the nodes cost; None where a price is not known.
    """

    month: Total
    percent: float | None

    def __str__(self) -> str:
        """Return for instance `70.10 USD a month at full size, 0.028 % of the nodes`."""
        share = "" if self.percent is None else f", {self.percent:.2g} % of the nodes"
        return f"{self.month} a month at full size{share}"


def monitoring_cost(plan: ClusterPlan, prices: PriceList) -> MonitoringCost | None:
    """Work out what the monitoring of a cluster costs; None where its file turns it off."""
    if not plan.monitoring:
        return None
    rows = [cost_row(each, prices) for each in monitoring_charges(plan)]
    an_hour = total((row.component, row.full_usd_per_hour) for row in rows)
    node = prices.price(plan.capacity.price_item(plan.instance.name))
    percent = None
    if node and not an_hour.unknown:
        percent = 100 * an_hour.usd / (plan.nodes.max * (node.usd_to or node.usd))
    return MonitoringCost(month=an_hour.times(HOURS_PER_MONTH), percent=percent)
