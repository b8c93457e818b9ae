"""What EventBridge hears of jobs."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from job_bench import JobBench

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault


@pytest.fixture
def events(loopback_aws: EmbeddedAws, bench: JobBench) -> Iterator[Callable[[], Sequence[Any]]]:
    """The events of AWS Batch about the queue, which a rule sends on; those that are new."""
    name, rules = bench.name, loopback_aws.client("events")
    sns, sqs = loopback_aws.client("sns"), loopback_aws.client("sqs")
    topic = sns.create_topic(Name=name)["TopicArn"]
    statement = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}}
    document = {"Statement": [statement | {"Action": "sns:Publish", "Resource": topic}]}
    sns.set_topic_attributes(
        TopicArn=topic, AttributeName="Policy", AttributeValue=json.dumps(document)
    )
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    sns.subscribe(
        TopicArn=topic,
        Protocol="sqs",
        Endpoint=attributes["Attributes"]["QueueArn"],
        Attributes={"RawMessageDelivery": "true"},
    )
    pattern = {"source": ["aws.batch"], "detail": {"jobQueue": [{"suffix": bench.queue}]}}
    rules.put_rule(Name=name, EventPattern=json.dumps(pattern))
    rules.put_targets(Rule=name, Targets=[{"Id": "Topic", "Arn": topic}])

    def receive() -> Sequence[Any]:
        found: list[Any] = []
        while more := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for each in more:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
                found.append(json.loads(each["Body"]))
        return found

    yield receive
    rules.remove_targets(Rule=name, Ids=["Topic"])
    rules.delete_rule(Name=name)


def test_each_state_of_a_job_is_an_event_and_none_of_its_nodes(
    bench: JobBench, events: Callable[[], Sequence[Any]]
) -> None:
    job = bench.run("true", nodes=2)

    heard = events()

    assert {each["detail-type"] for each in heard} == {"Batch Job State Change"}
    assert {each["detail"]["jobId"] for each in heard} == {job["jobId"]}
    assert [each["detail"]["status"] for each in heard] == [
        "RUNNABLE",
        "STARTING",
        "RUNNING",
        "SUCCEEDED",
    ]
    assert heard[0]["resources"] == [job["jobArn"]]


def test_a_job_that_finds_no_capacity_blocks_its_queue_once(
    loopback_aws: EmbeddedAws, bench: JobBench, events: Callable[[], Sequence[Any]]
) -> None:
    loopback_aws.fail(
        Fault(
            service="ec2",
            operation="RunInstances",
            code="InsufficientInstanceCapacity",
            count=None,
        )
    )
    job = bench.submit(bench.define("true", nodes=2))
    bench.wait(job, "RUNNABLE", reason="CAPACITY")

    blocked = [each for each in events() if each["detail-type"] == "Batch Job Queue Blocked"]
    loopback_aws.fail()
    bench.batch.terminate_job(jobId=job, reason="seen")
    bench.wait(job)

    [event] = blocked
    assert event["resources"][1].endswith(f"job-queue/{bench.queue}")
    assert event["detail"]["statusReason"].startswith("CAPACITY:")
