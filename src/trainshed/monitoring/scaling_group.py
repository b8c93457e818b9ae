"""What watches nodes that an Auto Scaling group keeps.

EC2 Auto Scaling user guide, "Amazon CloudWatch metrics for Amazon EC2 Auto Scaling": a group sends
them, without a charge, once they are turned on. EKS user guide, "View metrics for Amazon EC2 Auto
Scaling groups": those of managed node groups are.
"""

from trainshed.metrics import AUTO_SCALING_METRICS, Metric
from trainshed.monitoring.common import running_nodes
from trainshed.monitoring.model import Alarm, Line, Missing, Widget
from trainshed.plan import ClusterPlan


def nodes_widget(plan: ClusterPlan, group: str) -> Widget:
    """Return the graph of nodes that are wanted, in service and running.

    Args:
        plan: the cluster.
        group: name of its group, or what stands for that.
    """
    return Widget(
        title="Nodes",
        lines=(
            _of_group(group, "wanted", AUTO_SCALING_METRICS.desired),
            _of_group(group, "in_service", AUTO_SCALING_METRICS.in_service),
            *running_nodes(plan, 60),
        ),
    )


def missing_nodes(group: str, remedy: str) -> Alarm:
    """Return the alarm about nodes that a group wants and has not.

    Args:
        group: its name, or what stands for that.
        remedy: what to do, for people.
    """
    return Alarm(
        name="nodes-missing",
        says="For 15 minutes the Auto Scaling group has had fewer nodes in service than it wants: "
        f"EC2 has no capacity, or launches are suspended. {remedy}",
        lines=(
            _of_group(group, "wanted", AUTO_SCALING_METRICS.desired, shown=False),
            _of_group(group, "in_service", AUTO_SCALING_METRICS.in_service, shown=False),
            Line(id="missing", label="missing", expression="wanted - in_service"),
        ),
        above=0,
        period=300,
        periods=3,
        points=3,
        # The group always sends.
        missing=Missing.IGNORE,
    )


def _of_group(group: str, line_id: str, metric: Metric, *, shown: bool = True) -> Line:
    return Line(
        id=line_id,
        label=line_id.replace("_", " "),
        metric=metric,
        dimensions={"AutoScalingGroupName": group},
        shown=shown,
    )
