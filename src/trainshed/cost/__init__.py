"""What a planned cluster costs: per hour, per month, and for one run."""

from trainshed.cost.cluster import ClusterCost, cluster_cost, running_cost, withdrawn_remark
from trainshed.cost.fleet import FleetCost, fleet_cost
from trainshed.cost.model import HOURS_PER_MONTH, CostRow, Total, amount, total
from trainshed.cost.monitoring import MonitoringCost, monitoring_cost
from trainshed.cost.object_moves import ObjectMove, object_moves
from trainshed.cost.purchases import BoughtNode, bought_node, purchases_of

__all__ = [
    "HOURS_PER_MONTH",
    "BoughtNode",
    "ClusterCost",
    "CostRow",
    "FleetCost",
    "MonitoringCost",
    "ObjectMove",
    "Total",
    "amount",
    "bought_node",
    "cluster_cost",
    "fleet_cost",
    "monitoring_cost",
    "object_moves",
    "purchases_of",
    "running_cost",
    "total",
    "withdrawn_remark",
]
