"""Alarms call functions that let CloudWatch in."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from command_bench import until

from embedded_aws.embedded import EmbeddedAws

CODE = """
def handler(event, context):
    data = event["alarmData"]
    print(data["alarmName"], "was", data["previousState"]["value"], "is", data["state"]["value"])
"""
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "lambda.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}
Client = Callable[..., Any]


def _make(client: Client, name: str) -> str:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("index.py", CODE)
    role = client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(TRUST))
    made = client("lambda").create_function(
        FunctionName=name,
        Role=role["Role"]["Arn"],
        Runtime="python3.13",
        Handler="index.handler",
        Code={"ZipFile": archive.getvalue()},
    )
    arn: str = made["FunctionArn"]
    return arn


def _lines(client: Client, name: str) -> list[str]:
    logs = client("logs")
    groups = logs.describe_log_groups(logGroupNamePrefix=f"/aws/lambda/{name}")["logGroups"]
    if not groups:
        return []
    found = logs.filter_log_events(logGroupName=groups[0]["logGroupName"])["events"]
    return [each["message"] for each in found if " was " in each["message"]]


@pytest.mark.parametrize("source", [{}, {"SourceArn": "{arn}"}])
def test_an_alarm_calls_a_function_that_lets_it_in(
    clean_aws: EmbeddedAws, source: dict[str, str]
) -> None:
    client, name = clean_aws.client, "busy"
    cloudwatch, functions = client("cloudwatch"), client("lambda")
    allowed, other = _make(client, f"{name}-a"), _make(client, f"{name}-b")
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace=name,
        MetricName="Load",
        Statistic="Average",
        Period=60,
        EvaluationPeriods=1,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
        AlarmActions=[allowed, other],
    )
    [alarm] = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    for function, arn in ((allowed, alarm["AlarmArn"]), (other, f"{alarm['AlarmArn']}-other")):
        only = {key: text.format(arn=arn) for key, text in source.items()}
        # Without a source, the other lets in somebody else.
        service = "lambda.alarms.cloudwatch" if source or function == allowed else "events"
        functions.add_permission(
            FunctionName=function,
            StatementId="In",
            Action="lambda:InvokeFunction",
            Principal=f"{service}.amazonaws.com",
            **only,
        )

    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a test")
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="a test")
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a test")

    until(lambda: len(_lines(client, f"{name}-a")) == 2, "both calls")
    assert sorted(_lines(client, f"{name}-a")) == [
        f"{name} was INSUFFICIENT_DATA is ALARM",
        f"{name} was OK is ALARM",
    ]
    assert _lines(client, f"{name}-b") == []
