"""What watches the nodes of an Auto Scaling group.

Of jobs, which are commands of Systems Manager, nothing sends metrics.
"""

from collections.abc import Iterator

from trainshed.monitoring.model import Alarm, EventRule, Widget
from trainshed.monitoring.scaling_group import missing_nodes, nodes_widget
from trainshed.plan import ClusterPlan


def widgets(plan: ClusterPlan) -> Iterator[Widget]:
    """Yield the graph of nodes."""
    yield nodes_widget(plan, plan.name)


def alarms(plan: ClusterPlan) -> Iterator[Alarm]:
    """Yield that about nodes that are missing."""
    yield missing_nodes(
        plan.name,
        "Look at: aws autoscaling describe-scaling-activities "
        f"--auto-scaling-group-name {plan.name}",
    )


def rules(plan: ClusterPlan) -> Iterator[EventRule]:
    """Yield none: Systems Manager's events about commands do not say which cluster they are of."""
    yield from ()
