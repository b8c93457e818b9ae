"""Scaling activities: what a group did, and why it could not.

As DescribeScalingActivities has shown them to others: terraform's pull requests 14480 and 31282,
autoscaler's issue 1263 ("Launching a new EC2 instance. Status Reason: ..."), the fault injection
workshop's issue 114 (all instances protected). API reference: those of the last six weeks, also of
deleted groups if asked for, newest first.
"""

import json
from datetime import UTC, datetime
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Call, Row, action
from embedded_aws.autoscaling.group import Group, groups, guard
from embedded_aws.autoscaling.pages import page

_FAILED = "Launching EC2 instance failed."


def at_this_time(what: str) -> str:
    """Return a sentence of a cause.

    Args:
        what: goes on after the time, for instance `an instance was started.`
    """
    return f"At {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {what}"


def record(group: Group, description: str, cause: str, **more: Any) -> Row:
    """Record an activity that has ended, by default with success, and return it.

    Args:
        group: that acted.
        description: what it did.
        cause: why.
        more: other fields.
    """
    now = datetime.now(UTC)
    activity: Row = {
        "ActivityId": str(mock_random.uuid4()),
        "AutoScalingGroupName": group.name,
        "AutoScalingGroupARN": group.fields["AutoScalingGroupARN"],
        "Description": description,
        "Cause": cause,
        "StartTime": now,
        "EndTime": now,
        "StatusCode": "Successful",
        "Progress": 100,
        "Details": "{}",
        **more,
    }
    _activities(group.call).insert(0, activity)
    return activity


def failed_launch(group: Group, cause: str, message: str, details: str) -> Row:
    """Record that EC2 refused a launch.

    Args:
        group: that launched.
        cause: why it did.
        message: EC2's.
        details: as `place` gives them.
    """
    reason = f"{message.rstrip('. ')}. {_FAILED}"
    return record(
        group,
        f"Launching a new EC2 instance.  Status Reason: {reason}",
        cause,
        StatusCode="Failed",
        StatusMessage=reason,
        Details=details,
    )


def place(subnet_id: str, zone: str) -> str:
    """Return the details of an activity in a subnet."""
    return json.dumps({"Subnet ID": subnet_id, "Availability Zone": zone}, separators=(",", ":"))


def newest(group: Group) -> Row | None:
    """Return the newest activity of a group."""
    arn = group.fields["AutoScalingGroupARN"]
    return next((it for it in _activities(group.call) if it["AutoScalingGroupARN"] == arn), None)


def _activities(call: Call) -> list[Row]:
    return call.state("autoscaling", "activities", list[Row])


@action("autoscaling", "DescribeScalingActivities")
def describe_scaling_activities(call: Call) -> dict[str, Any]:
    """Describe activities of a group, of some ids, or all."""
    name, ids = call.params.get("AutoScalingGroupName"), call.params.get("ActivityIds")
    with guard:
        arns = {each.fields["AutoScalingGroupARN"] for each in groups(call).values()}
        found = [
            activity
            for activity in _activities(call)
            if name in (None, activity["AutoScalingGroupName"])
            if ids is None or activity["ActivityId"] in ids
            if call.params.get("IncludeDeletedGroups") or activity["AutoScalingGroupARN"] in arns
        ]
    return page(call, "Activities", found, usual=100, most=100)
