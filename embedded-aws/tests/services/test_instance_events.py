"""What EventBridge is refused of instances, and whom it may call."""

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

CODE = "def handler(event, context):\n    print('refused', event['detail'], event['source'])\n"
PATTERN = {
    "source": ["aws.ec2"],
    "detail-type": ["EC2 Instance State-change Notification"],
    "detail": {"state": ["terminated"]},
}
_PATIENCE_SECONDS = 300


@pytest.fixture
def function(
    client: Callable[..., Any], name: str, role: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A function that says what it was refused, and a rule that calls it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.py", CODE)
    arn: str = client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Role=role,
        Handler="index.handler",
        Code={"ZipFile": buffer.getvalue()},
    )["FunctionArn"]
    client("events").put_rule(Name=name, EventPattern=json.dumps(PATTERN))
    client("events").put_targets(Rule=name, Targets=[{"Id": "F", "Arn": arn}])
    yield name
    # Or it hears of the instances of other tests.
    client("lambda").delete_function(FunctionName=name)


def let_in(client: Callable[..., Any], name: str, rule: str) -> None:
    client("lambda").add_permission(
        FunctionName=name,
        StatementId="events",
        Action="lambda:InvokeFunction",
        Principal="events.amazonaws.com",
        SourceArn=f"arn:aws:events:us-west-2:123456789012:rule/{rule}",
    )


def launched(ec2: Any) -> str:
    made = ec2.run_instances(ImageId="ami-0123456789abcdef0", MinCount=1, MaxCount=1)
    instance_id: str = made["Instances"][0]["InstanceId"]
    return instance_id


def groups(client: Callable[..., Any], name: str) -> list[Any]:
    found: list[Any] = client("logs").describe_log_groups(logGroupNamePrefix=f"/aws/lambda/{name}")[
        "logGroups"
    ]
    return found


def refused(client: Callable[..., Any], name: str) -> str:
    """Wait until the function has said something."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        if groups(client, name):
            events = client("logs").filter_log_events(logGroupName=f"/aws/lambda/{name}")["events"]
            if said := [each["message"] for each in events if "refused" in each["message"]]:
                return "\n".join(said)
        assert time.monotonic() < deadline, "the function was not called"
        time.sleep(0.05)


def test_a_rule_calls_the_function_that_lets_it_in(
    client: Callable[..., Any], ec2: Any, function: str
) -> None:
    let_in(client, function, function)
    instance_id = launched(ec2)

    ec2.terminate_instances(InstanceIds=[instance_id])

    said = refused(client, function)
    assert f"'instance-id': '{instance_id}'" in said
    assert "'state': 'terminated'" in said


def test_the_end_of_an_instance_that_has_ended_calls_nothing(
    client: Callable[..., Any], ec2: Any, function: str
) -> None:
    instance_id, another = launched(ec2), launched(ec2)
    ec2.terminate_instances(InstanceIds=[instance_id])
    let_in(client, function, function)

    ec2.terminate_instances(InstanceIds=[instance_id])
    ec2.terminate_instances(InstanceIds=[another])

    said = refused(client, function)
    assert another in said
    assert instance_id not in said


def test_a_state_that_the_rule_does_not_name_calls_nothing(
    client: Callable[..., Any], ec2: Any, function: str
) -> None:
    let_in(client, function, function)
    instance_id = launched(ec2)

    ec2.stop_instances(InstanceIds=[instance_id])
    ec2.terminate_instances(InstanceIds=[instance_id])

    assert "stopped" not in refused(client, function)


@pytest.mark.parametrize("rule", [None, "another"])
def test_a_function_that_does_not_let_the_rule_in_is_not_called(
    client: Callable[..., Any], ec2: Any, function: str, rule: str | None
) -> None:
    if rule:
        let_in(client, function, rule)

    unheard, heard = launched(ec2), launched(ec2)
    ec2.terminate_instances(InstanceIds=[unheard])
    client("lambda").add_permission(
        FunctionName=function,
        StatementId="all",
        Action="lambda:InvokeFunction",
        Principal="events.amazonaws.com",
    )
    ec2.terminate_instances(InstanceIds=[heard])

    said = refused(client, function)
    assert heard in said
    assert unheard not in said


def test_a_rule_with_a_schedule_and_one_whose_function_is_gone_hear_nothing(
    client: Callable[..., Any], ec2: Any, function: str
) -> None:
    let_in(client, function, function)
    gone = f"{function}-gone"
    client("events").put_rule(Name=gone, EventPattern=json.dumps(PATTERN))
    arn = client("lambda").get_function(FunctionName=function)["Configuration"]["FunctionArn"]
    client("events").put_targets(Rule=gone, Targets=[{"Id": "F", "Arn": f"{arn}-gone"}])
    daily = f"{function}-daily"
    client("events").put_rule(Name=daily, ScheduleExpression="rate(1 day)")
    client("events").put_targets(Rule=daily, Targets=[{"Id": "F", "Arn": arn}])
    client("lambda").add_permission(
        FunctionName=function,
        StatementId="all",
        Action="lambda:InvokeFunction",
        Principal="events.amazonaws.com",
    )
    stopped, ended = launched(ec2), launched(ec2)

    ec2.stop_instances(InstanceIds=[stopped])
    ec2.terminate_instances(InstanceIds=[ended])

    said = refused(client, function)
    assert ended in said
    assert stopped not in said


def test_a_rule_sends_events_to_a_topic_that_lets_it(
    client: Callable[..., Any], name: str, ec2: Any
) -> None:
    sns, sqs, events = client("sns"), client("sqs"), client("events")
    topic = sns.create_topic(Name=name)["TopicArn"]
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    sns.subscribe(
        TopicArn=topic, Protocol="sqs", Endpoint=f"arn:aws:sqs:us-west-2:123456789012:{name}"
    )
    events.put_rule(Name=name, EventPattern=json.dumps(PATTERN))
    paths = {"id": "$.detail.instance-id", "state": "$.detail.state"}
    transformer = {"InputPathsMap": paths, "InputTemplate": '"<id> is <state>"'}
    target = {"Id": "Topic", "Arn": topic, "InputTransformer": transformer}
    events.put_targets(Rule=name, Targets=[target])

    ec2.terminate_instances(InstanceIds=[launched(ec2)])
    before = sqs.receive_message(QueueUrl=url)
    statement = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}}
    document = {"Statement": [statement | {"Action": "sns:Publish", "Resource": topic}]}
    sns.set_topic_attributes(
        TopicArn=topic, AttributeName="Policy", AttributeValue=json.dumps(document)
    )
    instance = launched(ec2)
    ec2.terminate_instances(InstanceIds=[instance])
    [message] = sqs.receive_message(QueueUrl=url)["Messages"]
    events.remove_targets(Rule=name, Ids=["Topic"])
    events.delete_rule(Name=name)

    assert "Messages" not in before
    assert json.loads(message["Body"])["Message"] == f'"{instance} is terminated"'
    end = datetime.now(UTC) + timedelta(minutes=1)
    counts = {
        metric: client("cloudwatch").get_metric_statistics(
            Namespace="AWS/Events",
            MetricName=metric,
            Dimensions=[{"Name": "RuleName", "Value": name}],
            StartTime=end - timedelta(minutes=10),
            EndTime=end,
            Period=600,
            Statistics=["Sum"],
        )["Datapoints"][0]["Sum"]
        for metric in ("TriggeredRules", "Invocations", "FailedInvocations")
    }
    assert counts == {"TriggeredRules": 2, "Invocations": 2, "FailedInvocations": 1}
