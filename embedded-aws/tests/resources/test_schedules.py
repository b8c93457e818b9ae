"""Schedules through their handler."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.cloudformation.resource import HandlerError

TYPE = "AWS::Scheduler::Schedule"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "scheduler.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}


@pytest.fixture(scope="module")
def nightly(client: Any) -> dict[str, Any]:
    """Properties of a schedule whose role lets Scheduler take it."""
    role = client("iam").create_role(
        RoleName="of-schedule", AssumeRolePolicyDocument=json.dumps(TRUST)
    )["Role"]["Arn"]
    return {
        "Name": "nightly",
        "ScheduleExpression": "cron(0 20 * * ? *)",
        "ScheduleExpressionTimezone": "Europe/Berlin",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {
            "Arn": "arn:aws:scheduler:::aws-sdk:autoscaling:setDesiredCapacity",
            "RoleArn": role,
            "Input": '{"AutoScalingGroupName": "nodes", "DesiredCapacity": 0}',
        },
    }


def test_a_schedule_is_made_changed_and_deleted(
    client: Any, deploy: Any, nightly: dict[str, Any]
) -> None:
    made = deploy(TYPE, **nightly)

    made.update("ScheduleExpressionTimezone", ScheduleExpression="rate(1 day)")

    found = client("scheduler").get_schedule(Name="nightly")
    made.delete()
    made.delete()
    with pytest.raises(ClientError, match="nightly does not exist"):
        client("scheduler").get_schedule(Name="nightly")
    assert (made.ref, made.attributes["Arn"]) == ("nightly", found["Arn"])
    assert found["ScheduleExpression"] == "rate(1 day)"
    assert found["ScheduleExpressionTimezone"] == "UTC"


def test_a_schedule_ends_at_a_date_with_milliseconds_only(
    client: Any, deploy: Any, nightly: dict[str, Any]
) -> None:
    with pytest.raises(HandlerError, match="EndDate needs to follow the format") as refused:
        deploy(TYPE, **nightly, EndDate="2126-12-31T18:00:00Z")
    made = deploy(TYPE, **nightly, EndDate="2126-12-31T18:00:00.000Z")
    found = client("scheduler").get_schedule(Name="nightly")
    with pytest.raises(HandlerError, match="StartDate needs to follow the format"):
        made.update(StartDate="2026-12-31")

    assert refused.value.code == "InvalidRequest"
    assert found["EndDate"].isoformat() == "2126-12-31T18:00:00+00:00"
