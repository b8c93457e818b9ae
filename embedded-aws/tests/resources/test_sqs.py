"""Queues through their handler."""

import json
from typing import Any

import pytest


def test_long_names_of_two_queues_differ(deploy: Any) -> None:
    long = "QueueOfANestedStackWithAVeryLongNameThatLeavesNoRoomForWhatComesAfterIt"

    first, second = deploy("AWS::SQS::Queue", long + "A"), deploy("AWS::SQS::Queue", long + "B")

    names = {each.attributes["QueueName"] for each in (first, second)}
    assert len(names) == 2
    assert all(len(name) <= 80 for name in names)


@pytest.mark.parametrize("fifo", [True, "true"])
def test_a_fifo_queue_without_a_name_gets_the_ending(deploy: Any, fifo: Any) -> None:
    queue = deploy("AWS::SQS::Queue", "Q" * 90, FifoQueue=fifo)

    name = queue.attributes["QueueName"]
    assert name.endswith(".fifo")
    assert len(name) <= 80


def test_a_queue_changes_in_place_and_is_deleted(client: Any, deploy: Any) -> None:
    sqs = client("sqs")
    dead = deploy("AWS::SQS::Queue", "Dead")
    redrive = {"deadLetterTargetArn": dead.attributes["Arn"], "maxReceiveCount": 3}
    queue = deploy(
        "AWS::SQS::Queue",
        VisibilityTimeout=60,
        DelaySeconds=5,
        RedrivePolicy=redrive,
        Tags=[{"Key": "old", "Value": "1"}],
    )

    queue.update(
        "RedrivePolicy", "DelaySeconds", VisibilityTimeout="90", Tags=[{"Key": "new", "Value": "2"}]
    )

    attributes = sqs.get_queue_attributes(QueueUrl=queue.ref, AttributeNames=["All"])["Attributes"]
    assert attributes["VisibilityTimeout"] == "90"
    assert attributes["DelaySeconds"] == "0"
    assert "RedrivePolicy" not in attributes
    tags = sqs.list_queue_tags(QueueUrl=queue.ref)["Tags"]
    assert tags == {"new": "2", "Owner": "ml-platform", "aws:cloudformation:stack-name": "Stack"}
    queue.delete()
    queue.delete()
    assert queue.ref not in sqs.list_queues().get("QueueUrls", [])


def policy_of(client: Any, queue: Any) -> Any:
    reply = client("sqs").get_queue_attributes(QueueUrl=queue.ref, AttributeNames=["Policy"])
    return json.loads(reply.get("Attributes", {}).get("Policy") or "null")


def test_a_policy_follows_its_list_of_queues(client: Any, deploy: Any) -> None:
    first, second = deploy("AWS::SQS::Queue", "First"), deploy("AWS::SQS::Queue", "Second")
    document = {
        "Version": "2012-10-17",
        "Statement": {
            "Effect": "Allow",
            "Principal": {"Service": "s3.amazonaws.com"},
            "Action": "sqs:SendMessage",
            "Resource": first.attributes["Arn"],
        },
    }
    policy = deploy("AWS::SQS::QueuePolicy", PolicyDocument=document, Queues=[first.ref])
    before = policy_of(client, first)

    policy.update(Queues=[second.ref])

    assert (before, policy_of(client, first), policy_of(client, second)) == (
        document,
        None,
        document,
    )
    second.delete()
    policy.delete()
