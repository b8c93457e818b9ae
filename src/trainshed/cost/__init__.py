"""What a planned cluster costs: per hour, per month, and for one run."""

from trainshed.cost.cluster import ClusterCost, cluster_cost
from trainshed.cost.fleet import FleetCost, fleet_cost
from trainshed.cost.model import HOURS_PER_MONTH, CostRow, Total, amount

__all__ = [
    "HOURS_PER_MONTH",
    "ClusterCost",
    "CostRow",
    "FleetCost",
    "Total",
    "amount",
    "cluster_cost",
    "fleet_cost",
]
