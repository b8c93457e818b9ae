"""What watches the nodes of a managed node group of EKS, which has an Auto Scaling group."""

from collections.abc import Iterator

from trainshed.monitoring.model import SCALING_GROUP, Alarm, EventRule, Widget
from trainshed.monitoring.scaling_group import missing_nodes, nodes_widget
from trainshed.plan import ClusterPlan


def widgets(plan: ClusterPlan) -> Iterator[Widget]:
    """Yield the graph of nodes."""
    yield nodes_widget(plan, SCALING_GROUP)


def alarms(plan: ClusterPlan) -> Iterator[Alarm]:
    """Yield that about nodes that are missing."""
    yield missing_nodes(SCALING_GROUP, f"Look at: trainshed status {plan.name}")


def rules(plan: ClusterPlan) -> Iterator[EventRule]:
    """Yield none: what happens to pods is no event of EventBridge."""
    yield from ()
