"""Capacity Blocks that begin and end by a control: instances, events, launches."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.error import HTTPError

import pytest
from amis import AMAZON_LINUX
from botocore.exceptions import ClientError

from embedded_aws.controls import CAPACITY_BLOCKS_PATH
from embedded_aws.embedded import EmbeddedAws

_pause = threading.Event()
_TOO_OFTEN = 500


@pytest.fixture
def block(clean_aws: EmbeddedAws) -> Mapping[str, Any]:
    """A block of two instances that was bought and has not begun."""
    ec2 = clean_aws.client("ec2")
    offerings = ec2.describe_capacity_block_offerings(
        InstanceType="trn1.32xlarge", InstanceCount=2, CapacityDurationHours=24
    )["CapacityBlockOfferings"]
    [offering] = [each for each in offerings if each["AvailabilityZone"] == "us-west-2d"]
    bought: Mapping[str, Any] = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    return bought


@pytest.fixture
def launch(clean_aws: EmbeddedAws, block: Mapping[str, Any]) -> Callable[..., Sequence[str]]:
    """Launch instances, into the block unless it is told otherwise; return their ids."""
    ec2 = clean_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="usw2-az4")
    target = {"CapacityReservationId": block["CapacityReservationId"]}
    into = {
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": {"CapacityReservationTarget": target},
    }

    def run(*, in_block: bool = True) -> Sequence[str]:
        launched = ec2.run_instances(
            ImageId=AMAZON_LINUX,
            InstanceType="trn1.32xlarge",
            SubnetId=subnet["Subnet"]["SubnetId"],
            MinCount=1,
            MaxCount=1,
            **(into if in_block else {}),
        )
        return [each["InstanceId"] for each in launched["Instances"]]

    return run


@pytest.fixture
def events(clean_aws: EmbeddedAws) -> Iterator[Callable[[], Sequence[Any]]]:
    """The events of EC2 about Capacity Blocks, which a rule sends on; those that are new."""
    rules, sns, sqs = (clean_aws.client(each) for each in ("events", "sns", "sqs"))
    topic = sns.create_topic(Name="blocks")["TopicArn"]
    statement = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}}
    document = {"Statement": [statement | {"Action": "sns:Publish", "Resource": topic}]}
    sns.set_topic_attributes(
        TopicArn=topic, AttributeName="Policy", AttributeValue=json.dumps(document)
    )
    url = sqs.create_queue(QueueName="blocks")["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    sns.subscribe(
        TopicArn=topic,
        Protocol="sqs",
        Endpoint=attributes["Attributes"]["QueueArn"],
        Attributes={"RawMessageDelivery": "true"},
    )
    about = [{"prefix": "Capacity Block"}, {"prefix": "EC2 Capacity Reservation"}]
    pattern = {"source": ["aws.ec2"], "detail-type": about}
    rules.put_rule(Name="blocks", EventPattern=json.dumps(pattern))
    rules.put_targets(Rule="blocks", Targets=[{"Id": "Topic", "Arn": topic}])

    def receive() -> Sequence[Any]:
        found: list[Any] = []
        while more := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for each in more:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
                found.append(json.loads(each["Body"]))
        return found

    yield receive


def state(aws: EmbeddedAws, instance_id: str) -> str:
    described = aws.client("ec2").describe_instances(InstanceIds=[instance_id])
    found: str = described["Reservations"][0]["Instances"][0]["State"]["Name"]
    return found


def until(holds: Callable[[], bool]) -> None:
    for _ in range(_TOO_OFTEN):
        if holds():
            return
        _pause.wait(0.02)
    raise AssertionError("it never came about")


def test_a_block_that_begins_takes_launches_and_says_so(
    clean_aws: EmbeddedAws,
    block: Mapping[str, Any],
    launch: Callable[..., Sequence[str]],
    events: Callable[[], Sequence[Any]],
) -> None:
    block_id = block["CapacityReservationId"]

    clean_aws.begin_block(block_id)

    [instance] = launch()
    assert state(clean_aws, instance) == "running"
    [begun] = events()
    assert begun["detail-type"] == "Capacity Block Delivered"
    assert begun["resources"] == [block["CapacityReservationArn"]]
    assert begun["detail"] == {
        "capacity-reservation-id": block_id,
        "end-date": f"{block['EndDate']:%Y-%m-%dT%H:%M:%SZ}",
    }


def test_a_block_that_ends_warns_and_then_ends_its_instances_alone(
    clean_aws: EmbeddedAws,
    block: Mapping[str, Any],
    launch: Callable[..., Sequence[str]],
    events: Callable[[], Sequence[Any]],
) -> None:
    block_id, ec2 = block["CapacityReservationId"], clean_aws.client("ec2")
    clean_aws.begin_block(block_id)
    [instance], [other] = launch(), launch(in_block=False)
    events()

    clean_aws.end_block(block_id, seconds=0)

    until(lambda: state(clean_aws, instance) == "terminated")
    assert state(clean_aws, other) == "running"
    warning, of_instance = events()
    assert warning["detail-type"] == "Capacity Block Expiration Warning"
    assert warning["detail"]["capacity-reservation-id"] == block_id
    assert of_instance["detail-type"] == "EC2 Capacity Reservation Instance Interruption Warning"
    told = {"instance-id": instance, "instance-action": "terminate"}
    assert told.items() <= of_instance["detail"].items()
    assert of_instance["detail"]["availability-zone-id"] == "usw2-az4"
    assert of_instance["detail"]["instance-lifecycle"] == "capacity-block"
    [left] = ec2.describe_capacity_reservations(CapacityReservationIds=[block_id])[
        "CapacityReservations"
    ]
    assert (left["State"], left["AvailableInstanceCount"]) == ("active", 0)
    assert left["EndDate"] - datetime.now(UTC) <= timedelta(minutes=30)
    with pytest.raises(ClientError, match="ReservationCapacityExceeded"):
        launch()


def test_instances_run_for_ten_minutes_after_the_warning(
    clean_aws: EmbeddedAws, block: Mapping[str, Any], launch: Callable[..., Sequence[str]]
) -> None:
    block_id = block["CapacityReservationId"]
    clean_aws.begin_block(block_id)
    [instance] = launch()

    clean_aws.end_block(block_id)

    assert state(clean_aws, instance) == "running"
    found = clean_aws.client("ec2").describe_capacity_reservations(
        CapacityReservationIds=[block_id]
    )
    left = found["CapacityReservations"][0]["EndDate"] - datetime.now(UTC)
    assert timedelta(minutes=39) < left <= timedelta(minutes=40)
    # Until then, another can take its place.
    assert launch()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param({}, "not a list", id="no-list"),
        pytest.param([{"block": "BLOCK"}], "with block and window", id="no-window"),
        pytest.param([{"block": "BLOCK", "window": "opens"}], "begins or ends", id="window"),
        pytest.param([{"block": "cr-1", "window": "begins"}], "no Capacity Block 'cr-1'", id="id"),
        pytest.param([{"block": ["x"], "window": "begins"}], "no Capacity Block", id="type"),
        pytest.param([{"block": "BLOCK", "window": "ends"}], "has not begun", id="early"),
        pytest.param(
            [{"block": "BLOCK", "window": "begins", "seconds": 1}], "seconds are for", id="begins"
        ),
        pytest.param(
            [{"block": "BLOCK", "window": "ends", "seconds": -1}], "from 0 to 3600", id="negative"
        ),
    ],
)
def test_what_is_no_window_of_a_block_is_refused(
    clean_aws: EmbeddedAws, block: Mapping[str, Any], value: object, message: str
) -> None:
    text = json.dumps(value).replace("BLOCK", block["CapacityReservationId"])

    with pytest.raises(HTTPError) as caught:
        clean_aws.settings.controls.post(CAPACITY_BLOCKS_PATH, json.loads(text))

    assert caught.value.code == 400
    assert message in caught.value.read().decode()


def test_a_block_begins_once(clean_aws: EmbeddedAws, block: Mapping[str, Any]) -> None:
    clean_aws.begin_block(block["CapacityReservationId"])

    with pytest.raises(HTTPError) as caught:
        clean_aws.begin_block(block["CapacityReservationId"])

    assert "has begun" in caught.value.read().decode()
