"""EventBridge's events for instances, and of their states the services here hear first.

EC2 user guide, "State change events for your instances": source, detail type and detail.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.hooks import (
    ServiceEvent,
    when_event_sent,
    when_instance_changed,
    when_instance_ended,
)


def publish_state(instance: Any, state: str) -> None:
    """Tell the services and EventBridge of an instance's new state.

    Args:
        instance: moto's.
        state: for instance `terminated`.
    """
    if state in ("stopped", "terminated"):
        when_instance_ended.call(instance)
    when_instance_changed.call(instance)
    publish(instance, "EC2 Instance State-change Notification", {"state": state})


def publish(instance: Any, detail_type: str, detail: Mapping[str, str]) -> None:
    """Tell EventBridge of something that concerns an instance.

    Args:
        instance: moto's.
        detail_type: for instance `EC2 Instance Rebalance Recommendation`.
        detail: of the event, beside the id of the instance.
    """
    ec2 = instance.ec2_backend
    account, region = ec2.account_id, ec2.region_name
    when_event_sent.call(
        ServiceEvent(
            account=account,
            region=region,
            source="aws.ec2",
            detail_type=detail_type,
            resources=[f"arn:{ec2.partition}:ec2:{region}:{account}:instance/{instance.id}"],
            detail={"instance-id": instance.id, **detail},
        )
    )
