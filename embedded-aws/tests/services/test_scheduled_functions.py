"""Schedules of EventBridge Scheduler call functions that their role may invoke."""

import io
import json
import zipfile
from datetime import UTC, datetime, timedelta
from typing import Any

from command_bench import until

from embedded_aws.embedded import EmbeddedAws

CODE = """
def handler(event, context):
    print("called with", event["word"])
"""


def _role(aws: EmbeddedAws, name: str, service: str) -> str:
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    made = aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=document)
    arn: str = made["Role"]["Arn"]
    return arn


def _function(aws: EmbeddedAws) -> str:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("index.py", CODE)
    made = aws.client("lambda").create_function(
        FunctionName="task",
        Role=_role(aws, "task", "lambda.amazonaws.com"),
        Runtime="python3.13",
        Handler="index.handler",
        Code={"ZipFile": archive.getvalue()},
    )
    arn: str = made["FunctionArn"]
    return arn


def _permit(aws: EmbeddedAws, resource: str) -> None:
    statement = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": resource}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    aws.client("iam").put_role_policy(
        RoleName="caller", PolicyName="invoke", PolicyDocument=document
    )


def _lines(aws: EmbeddedAws) -> list[Any]:
    logs = aws.client("logs")
    groups = logs.describe_log_groups(logGroupNamePrefix="/aws/lambda/task")["logGroups"]
    if not groups:
        return []
    found = logs.filter_log_events(logGroupName=groups[0]["logGroupName"])["events"]
    return [each["message"].strip() for each in found if "called with" in each["message"]]


def test_a_schedule_calls_a_function_that_its_role_may_invoke(clean_aws: EmbeddedAws) -> None:
    function, role = _function(clean_aws), _role(clean_aws, "caller", "scheduler.amazonaws.com")
    _permit(clean_aws, f"{function}-of-others")
    for word, hours in (("first", 1), ("second", 4)):
        moment = datetime.now(UTC) + timedelta(hours=hours)
        clean_aws.client("scheduler").create_schedule(
            Name=word,
            ScheduleExpression=f"at({moment:%Y-%m-%dT%H:%M:%S})",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={
                "Arn": function,
                "RoleArn": role,
                "Input": json.dumps({"word": word}),
                "RetryPolicy": {"MaximumRetryAttempts": 0},
            },
        )

    clean_aws.let_pass(hours=2)
    _permit(clean_aws, function)
    clean_aws.let_pass(hours=3)

    until(lambda: _lines(clean_aws), "the call of the function")
    assert _lines(clean_aws) == ["called with second"]
