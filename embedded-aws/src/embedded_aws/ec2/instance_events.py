"""EventBridge's events for instances, and of their states the services here hear first.

EC2 user guide, "State change events for your instances": source, detail type and detail.
EventBridge user guide, "Using resource-based policies": a function is called only if its own policy
lets events.amazonaws.com in, for the rule if it names one; if not, nothing happens and there is no
error. Targets other than functions get no events here.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from moto.backends import get_backend
from moto.moto_api._internal import mock_random

from embedded_aws.hooks import when_instance_changed, when_instance_ended


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
    event: Any = {
        "version": "0",
        "id": str(mock_random.uuid4()),
        "detail-type": detail_type,
        "source": "aws.ec2",
        "account": ec2.account_id,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": ec2.region_name,
        "resources": [
            f"arn:{ec2.partition}:ec2:{ec2.region_name}:{ec2.account_id}:instance/{instance.id}"
        ],
        "detail": {"instance-id": instance.id, **detail},
    }
    events = get_backend("events")[ec2.account_id][ec2.region_name]
    for rule in list(events.event_buses["default"].rules.values()):
        pattern = rule.event_pattern
        # In moto a rule with a schedule and no pattern matches everything.
        if rule.state == "ENABLED" and pattern.get_pattern() and pattern.matches_event(event):
            targets = {target["Arn"] for target in rule.targets}
            for function in get_backend("lambda")[ec2.account_id][ec2.region_name].list_functions():
                if function.function_arn in targets:
                    _call(function, rule.arn, event)


def _call(function: Any, rule_arn: str, event: dict[str, Any]) -> None:
    if any(_lets_in(statement, rule_arn) for statement in function.policy.statements):
        function.invoke(json.dumps(event), {"x-amz-invocation-type": "Event"}, {})


def _lets_in(statement: dict[str, Any], rule_arn: str) -> bool:
    source = statement.get("Condition", {}).get("ArnLike", {}).get("AWS:SourceArn", rule_arn)
    return (
        statement.get("Effect") == "Allow"
        and statement.get("Principal") == {"Service": "events.amazonaws.com"}
        and fnmatchcase(rule_arn, source)
    )
