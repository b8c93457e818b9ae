"""What watches a cluster, in its stack."""

import aws_cdk as cdk

from trainshed.monitoring import dashboard_url, monitoring_of
from trainshed.plan import ClusterPlan
from trainshed_constructs import ClusterMonitoring, TimedMessages


def add_monitoring(
    stack: cdk.Stack,
    plan: ClusterPlan,
    *,
    topic_arn: str | None,
    queue_arn: str | None,
    scaling_group: str | None,
) -> None:
    """Add the dashboard, alarms, rules and messages of a cluster, unless its file turns that off.

    Args:
        stack: of the cluster.
        plan: the cluster.
        topic_arn: ARN of the topic for people; None when nobody is told.
        queue_arn: ARN of its job queue; None where it has none.
        scaling_group: name that EKS gives its Auto Scaling group; None elsewhere.
    """
    monitoring = monitoring_of(plan)
    if not monitoring:
        return
    ClusterMonitoring(
        stack,
        "Monitoring",
        cluster=plan.name,
        region=plan.region,
        plan=monitoring,
        topic_arn=topic_arn,
        queue_arn=queue_arn,
        scaling_group=scaling_group,
    )
    if monitoring.messages and topic_arn:
        TimedMessages(
            stack,
            "Messages",
            cluster=plan.name,
            messages=monitoring.messages,
            topic_arn=topic_arn,
        )
    cdk.CfnOutput(
        stack,
        "DashboardUrl",
        description=f"Graphs of nodes, accelerators, network, storage and cost ({plan.name})",
        value=dashboard_url(plan.name, plan.region),
    )
