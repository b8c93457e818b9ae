"""Topic policies and subscriptions through their handlers."""

import json
from typing import Any

import pytest


def document(topic: str) -> dict[str, Any]:
    statement = {
        "Sid": "Publish",
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sns:Publish",
        "Resource": topic,
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


@pytest.fixture
def topic(deploy: Any) -> Any:
    return deploy("AWS::SNS::Topic")


def policy(client: Any, topic: Any) -> dict[str, Any]:
    attributes = client("sns").get_topic_attributes(TopicArn=topic.ref)["Attributes"]
    return dict(json.loads(attributes["Policy"]))


def test_a_topic_gets_its_own_policy_back(client: Any, deploy: Any, topic: Any) -> None:
    own = policy(client, topic)
    made = deploy("AWS::SNS::TopicPolicy", PolicyDocument=document(topic.ref), Topics=[topic.ref])
    given = policy(client, topic)

    made.delete()

    assert given == document(topic.ref)
    assert policy(client, topic) == own


def test_a_policy_moves_to_another_topic(client: Any, deploy: Any, topic: Any) -> None:
    own, other = policy(client, topic), deploy("AWS::SNS::Topic", "Other")
    made = deploy("AWS::SNS::TopicPolicy", PolicyDocument=document(topic.ref), Topics=[topic.ref])

    made.update(PolicyDocument=document(other.ref), Topics=[other.ref])

    assert policy(client, topic) == own
    assert policy(client, other) == document(other.ref)


def test_a_policy_goes_after_its_topic(deploy: Any, topic: Any) -> None:
    made = deploy("AWS::SNS::TopicPolicy", PolicyDocument=document(topic.ref), Topics=[topic.ref])
    topic.delete()

    made.delete()


def test_a_subscription_changes_its_filter_in_place(client: Any, deploy: Any, topic: Any) -> None:
    sns = client("sns")
    made = deploy(
        "AWS::SNS::Subscription",
        TopicArn=topic.ref,
        Protocol="email",
        Endpoint="ml@example.org",
        FilterPolicy={"state": ["FAILED"]},
    )

    made.update(FilterPolicy={"state": ["FAILED", "STOPPED"]})

    found = sns.get_subscription_attributes(SubscriptionArn=made.ref)["Attributes"]
    assert json.loads(found["FilterPolicy"]) == {"state": ["FAILED", "STOPPED"]}
    assert found["Endpoint"] == "ml@example.org"
    made.delete()
    made.delete()
    assert not sns.list_subscriptions_by_topic(TopicArn=topic.ref)["Subscriptions"]
