"""Topics, rules, buses and alarms through their handlers."""

import json
from typing import Any

import pytest

from embedded_aws.cloudformation.resource import HandlerError


def test_a_topic_changes_its_name_tag_and_subscriptions_in_place(client: Any, deploy: Any) -> None:
    sns = client("sns")
    topic = deploy(
        "AWS::SNS::Topic",
        DisplayName="first",
        Subscription=[{"Protocol": "email", "Endpoint": "one@example.org"}],
    )

    topic.update(
        DisplayName="second",
        Subscription=[{"Protocol": "email", "Endpoint": "two@example.org"}],
    )

    attributes = sns.get_topic_attributes(TopicArn=topic.ref)["Attributes"]
    subscriptions = sns.list_subscriptions_by_topic(TopicArn=topic.ref)["Subscriptions"]
    assert attributes["DisplayName"] == "second"
    assert [each["Endpoint"] for each in subscriptions] == ["two@example.org"]
    topic.delete()
    topic.delete()
    assert topic.ref not in [each["TopicArn"] for each in sns.list_topics()["Topics"]]


def test_a_rule_changes_its_targets_in_place(client: Any, deploy: Any) -> None:
    events = client("events")
    topic = deploy("AWS::SNS::Topic")

    def target(name: str) -> dict[str, str]:
        return {"Id": name, "Arn": topic.ref}

    rule = deploy(
        "AWS::Events::Rule",
        EventPattern={"source": ["aws.batch"]},
        Targets=[target("one"), target("two")],
    )

    rule.update(Targets=[target("two"), target("three")], State="DISABLED")

    targets = events.list_targets_by_rule(Rule=rule.ref)["Targets"]
    assert {each["Id"] for each in targets} == {"two", "three"}
    assert events.describe_rule(Name=rule.ref)["State"] == "DISABLED"
    rule.delete()
    rule.delete()
    assert rule.ref not in [each["Name"] for each in events.list_rules()["Rules"]]


def test_a_bus_changes_its_policy_in_place(client: Any, deploy: Any) -> None:
    events = client("events")
    bus = deploy("AWS::Events::EventBus", Name="jobs")
    statement = {
        "Sid": "Peers",
        "Effect": "Allow",
        "Principal": {"AWS": "arn:aws:iam::111122223333:root"},
        "Action": "events:PutEvents",
        "Resource": bus.attributes["Arn"],
    }

    bus.update(Policy={"Version": "2012-10-17", "Statement": [statement]})

    policy = events.describe_event_bus(Name=bus.ref)["Policy"]
    assert json.loads(policy)["Statement"][0]["Sid"] == "Peers"
    bus.delete()
    bus.delete()
    assert "jobs" not in [each["Name"] for each in events.list_event_buses()["EventBuses"]]


def test_an_alarm_changes_in_place(client: Any, deploy: Any) -> None:
    cloudwatch = client("cloudwatch")
    alarm = deploy(
        "AWS::CloudWatch::Alarm",
        Namespace="AWS/SQS",
        MetricName="ApproximateNumberOfMessagesVisible",
        Statistic="Maximum",
        Period=300,
        EvaluationPeriods=1,
        Threshold=10,
        ComparisonOperator="GreaterThanOrEqualToThreshold",
    )

    alarm.update(Threshold="20")

    [found] = cloudwatch.describe_alarms(AlarmNames=[alarm.ref])["MetricAlarms"]
    assert (found["AlarmArn"], found["Threshold"]) == (alarm.attributes["Arn"], 20)
    alarm.delete()
    alarm.delete()
    assert cloudwatch.describe_alarms(AlarmNames=[alarm.ref])["MetricAlarms"] == []


def test_a_dashboard_changes_its_body_in_place(client: Any, deploy: Any) -> None:
    cloudwatch = client("cloudwatch")
    bodies = [
        json.dumps({"widgets": [{"type": "text", "properties": {"markdown": each}}]})
        for each in ("first", "second")
    ]
    dashboard = deploy("AWS::CloudWatch::Dashboard", DashboardBody=bodies[0])

    dashboard.update(DashboardBody=bodies[1])

    found = cloudwatch.get_dashboard(DashboardName=dashboard.ref)
    assert found["DashboardBody"] == bodies[1]
    dashboard.delete()
    dashboard.delete()
    assert dashboard.ref not in str(cloudwatch.list_dashboards()["DashboardEntries"])


def test_a_dashboard_that_exists_is_not_created_again(client: Any, deploy: Any) -> None:
    client("cloudwatch").put_dashboard(DashboardName="taken", DashboardBody='{"widgets": []}')

    with pytest.raises(HandlerError, match="Dashboard 'taken' already exists"):
        deploy("AWS::CloudWatch::Dashboard", DashboardName="taken", DashboardBody='{"widgets": []}')
