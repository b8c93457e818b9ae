"""What one cluster is watched by."""

from trainshed.metrics import NODES_POWERED_OFF
from trainshed.monitoring.alarms import alarms_of
from trainshed.monitoring.common import of_cluster
from trainshed.monitoring.messages import messages_of
from trainshed.monitoring.model import MonitoringPlan, Widget
from trainshed.monitoring.rules import rules_of
from trainshed.monitoring.widgets import widgets_of
from trainshed.orchestrators import part
from trainshed.plan import ClusterPlan


def monitoring_of(plan: ClusterPlan) -> MonitoringPlan | None:
    """Return what watches a cluster; None where its file turns that off."""
    if not plan.monitoring:
        return None
    own = part(plan.orchestrator, "monitoring")
    failed_boots = Widget(
        title="Nodes whose boot failed",
        lines=(of_cluster(plan, "failed", "powered off", NODES_POWERED_OFF),),
        limit=(plan.failed_boot_limit, "no more are launched"),
        period=300,
    )
    return MonitoringPlan(
        widgets=(*own.widgets(plan), *widgets_of(plan), failed_boots),
        alarms=(*own.alarms(plan), *alarms_of(plan)),
        rules=(*own.rules(plan), *rules_of(plan)),
        messages=tuple(messages_of(plan)),
    )
