"""Where a cluster's stack sends messages for people."""

import aws_cdk as cdk

from trainshed.plan import ClusterPlan
from trainshed_constructs import ClusterTopic


def notification_topic(stack: cdk.Stack, plan: ClusterPlan) -> str | None:
    """Declare the topic of a cluster, or name the one that exists; None when nobody is told.

    Args:
        stack: of the cluster.
        plan: the cluster.

    Returns:
        the topic's ARN.
    """
    if not plan.notify:
        return None
    if plan.notify.topic_arn:
        return plan.notify.topic_arn
    notify = ClusterTopic(
        stack,
        "Notify",
        cluster=plan.name,
        addresses=plan.notify.addresses,
        kms_key_arn=plan.security.kms_key,
    )
    return notify.topic.topic_arn
