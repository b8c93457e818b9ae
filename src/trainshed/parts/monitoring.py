"""What the monitoring of a cluster is paid for."""

from collections.abc import Iterator

from trainshed.monitoring import monitoring_of
from trainshed.monitoring.signals import sent_of
from trainshed.parts.model import Charge
from trainshed.plan import ClusterPlan
from trainshed.prices import CLOUDWATCH_ALARM, CLOUDWATCH_DASHBOARD, CLOUDWATCH_METRIC


def monitoring_charges(plan: ClusterPlan) -> Iterator[Charge]:
    """Yield what CloudWatch bills for a cluster; nothing where its file turns monitoring off.

    CloudWatch pricing: a metric is its name with one set of dimensions, by the hour in which it has
    data; an alarm is each metric that it looks at.
    """
    monitoring = monitoring_of(plan)
    if not monitoring:
        return
    least, most = plan.nodes.min, plan.nodes.max
    if sent := len(sent_of(plan)):
        yield Charge(
            component=f"CloudWatch, {sent} metrics of each node",
            item=CLOUDWATCH_METRIC,
            units=sent,
            least=least,
            most=most,
            per_node=True,
        )
        yield Charge(
            component=f"CloudWatch, {sent} metrics of the cluster",
            item=CLOUDWATCH_METRIC,
            units=sent,
            least=min(least, 1),
            most=1,
        )
    # The alarm about idle nodes looks at their accelerators and at their memory.
    if looked_at := monitoring.alarm_metrics + (2 if plan.guard.idle else 0):
        yield Charge(
            component=f"CloudWatch, {looked_at} metrics of alarms",
            item=CLOUDWATCH_ALARM,
            units=looked_at,
            least=1,
            most=1,
        )
    yield Charge(component="CloudWatch, dashboard", item=CLOUDWATCH_DASHBOARD, least=1, most=1)
