"""EventBridge Scheduler: what it refuses, and the calls that schedules make as time passes."""

import json
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.scheduler.schedules import since

SEND = "arn:aws:scheduler:::aws-sdk:sqs:sendMessage"


class Place:
    """A queue, and a role that may send to it for Scheduler."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.aws = aws
        self.scheduler, self._sqs = aws.client("scheduler"), aws.client("sqs")
        self.url = self._sqs.create_queue(QueueName="fired")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])
        self.role = self.make_role("sender", "scheduler.amazonaws.com")
        self.permit("sqs:SendMessage", arn["Attributes"]["QueueArn"])

    def make_role(self, name: str, service: str) -> str:
        trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        made = self.aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=document)
        arn: str = made["Role"]["Arn"]
        return arn

    def permit(self, action: str, resource: str) -> None:
        statement = {"Effect": "Allow", "Action": action, "Resource": resource}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        self.aws.client("iam").put_role_policy(
            RoleName="sender", PolicyName="send", PolicyDocument=document
        )

    def target(self, body: str, **more: Any) -> dict[str, Any]:
        text = json.dumps({"QueueUrl": self.url, "MessageBody": body})
        return {"Arn": SEND, "RoleArn": self.role, "Input": text, **more}

    def create(self, name: str, expression: str, **more: Any) -> None:
        wanted = {"FlexibleTimeWindow": {"Mode": "OFF"}, "Target": self.target(name), **more}
        self.scheduler.create_schedule(Name=name, ScheduleExpression=expression, **wanted)

    def fired(self) -> list[str]:
        """Take the messages out of the queue."""
        bodies: list[str] = []
        while found := self._sqs.receive_message(QueueUrl=self.url).get("Messages"):
            bodies += [each["Body"] for each in found]
            for each in found:
                self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=each["ReceiptHandle"])
        return bodies


@pytest.fixture
def place(clean_aws: EmbeddedAws) -> Place:
    """A queue, and a role that may send to it for Scheduler."""
    return Place(clean_aws)


def _at(**ahead: float) -> str:
    return f"at({datetime.now(UTC) + timedelta(**ahead):%Y-%m-%dT%H:%M:%S})"


def test_a_schedule_calls_once_at_its_time(place: Place) -> None:
    place.create("later", _at(hours=5))
    place.create("soon", _at(hours=3))

    place.aws.let_pass(hours=2)
    before = place.fired()
    place.aws.let_pass(hours=4)
    after = place.fired()
    place.aws.let_pass(days=3)

    assert (before, after, place.fired()) == ([], ["soon", "later"], [])
    assert place.scheduler.get_schedule(Name="soon")["State"] == "ENABLED"


def test_a_schedule_that_is_done_is_deleted_if_asked_for(place: Place) -> None:
    place.create("once", _at(hours=1), ActionAfterCompletion="DELETE")

    place.aws.let_pass(hours=2)

    assert place.fired() == ["once"]
    with pytest.raises(ClientError, match="Schedule once does not exist"):
        place.scheduler.get_schedule(Name="once")


def test_a_schedule_that_recurs_is_deleted_after_its_last_call(place: Place) -> None:
    end = datetime.now(UTC) + timedelta(hours=5)
    place.create("ending", "rate(2 hours)", ActionAfterCompletion="DELETE", EndDate=end)
    place.create("endless", "rate(20 hours)", ActionAfterCompletion="DELETE")

    place.aws.let_pass(hours=3)
    place.scheduler.get_schedule(Name="ending")
    place.aws.let_pass(hours=3)

    assert place.fired().count("ending") == 3
    with pytest.raises(ClientError, match="Schedule ending does not exist"):
        place.scheduler.get_schedule(Name="ending")
    place.scheduler.get_schedule(Name="endless")


def test_dates_of_a_schedule_that_calls_once_are_ignored(place: Place) -> None:
    place.create(
        "once",
        _at(hours=1),
        StartDate=datetime.now(UTC) + timedelta(days=2),
        EndDate=datetime.now(UTC) - timedelta(days=2),
    )

    place.aws.let_pass(hours=2)

    assert place.fired() == ["once"]


def test_a_creation_that_is_repeated_is_the_same(place: Place) -> None:
    place.create("same", "rate(2 hours)", ClientToken="a")
    place.create("same", "rate(2 hours)", ClientToken="a")

    with pytest.raises(ClientError, match="ConflictException"):
        place.create("same", "rate(2 hours)", ClientToken="b")


def test_a_schedule_recurs_on_some_days_in_its_time_zone(place: Place) -> None:
    place.create("begin", "cron(0 8 ? * MON-FRI *)", ScheduleExpressionTimezone="Europe/Berlin")
    place.create("disabled", "cron(0 9 * * ? *)", State="DISABLED")

    place.aws.let_pass(days=7)

    assert place.fired() == ["begin"] * 5


def test_a_rate_begins_at_once(place: Place) -> None:
    place.create("rate", "rate(2 hours)")

    place.aws.let_pass(hours=5)

    assert place.fired() == ["rate"] * 3


def test_an_update_counts_from_when_it_was_made(place: Place) -> None:
    place.create("moved", _at(hours=1))
    place.scheduler.update_schedule(
        Name="moved",
        ScheduleExpression=_at(hours=9),
        FlexibleTimeWindow={"Mode": "OFF"},
        Target=place.target("moved"),
    )

    place.aws.let_pass(hours=5)
    before = place.fired()
    place.aws.let_pass(hours=5)

    assert (before, place.fired()) == ([], ["moved"])


def test_a_call_that_its_role_may_not_make_is_made_again(place: Place) -> None:
    place.permit("sqs:DeleteMessage", "*")
    place.create("denied", _at(hours=1))
    place.aws.let_pass(hours=2)
    denied = place.fired()

    place.permit("sqs:SendMessage", "*")
    place.aws.let_pass(hours=1)

    assert (denied, place.fired()) == ([], ["denied"])


def test_a_call_that_failed_for_a_day_is_given_up(place: Place) -> None:
    place.permit("sqs:DeleteMessage", "*")
    place.create("denied", _at(hours=1))
    place.aws.let_pass(hours=2)
    place.aws.let_pass(hours=24)

    place.permit("sqs:SendMessage", "*")
    place.aws.let_pass(hours=1)

    assert place.fired() == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ScheduleExpression": "at(2100-01-01T00:00:00Z)"}, "Invalid Schedule Expression at"),
        ({"ScheduleExpression": "cron(0 8 * * * *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "cron(0 25 * * ? *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "at(2020-01-01T00:00:00)"}, "in the past"),
        ({"ScheduleExpressionTimezone": "Europe/Gotham"}, "Invalid time zone"),
        ({"FlexibleTimeWindow": {"Mode": "FLEXIBLE"}}, "MaximumWindowInMinutes"),
        ({"GroupName": "no-group"}, "Schedule group no-group does not exist"),
        ({"ScheduleExpression": "cron(? 8 * * ? *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "cron(0/-5 8 * * ? *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "cron(0 20-8 * * ? *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "cron(1_0 8 * * ? *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "cron(0/ 8 * * ? *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "cron(0/0 8 * * ? *)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": "cron(0 8 * * ?)"}, "Invalid Schedule Expression cron"),
        ({"ScheduleExpression": f"rate({10**12} days)"}, "Invalid Schedule Expression rate"),
        (
            {
                "ScheduleExpression": "at(9999-12-31T23:59:59)",
                "ScheduleExpressionTimezone": "America/Los_Angeles",
            },
            "Invalid Schedule Expression at",
        ),
        ({"EndDate": datetime(2020, 1, 1, tzinfo=UTC)}, "EndDate"),
        (
            {
                "StartDate": datetime(2090, 1, 2, tzinfo=UTC),
                "EndDate": datetime(2090, 1, 1, tzinfo=UTC),
            },
            "EndDate",
        ),
    ],
)
def test_a_schedule_is_refused(place: Place, wrong: dict[str, Any], message: str) -> None:
    given = {"ScheduleExpression": "rate(1 hour)", "FlexibleTimeWindow": {"Mode": "OFF"}, **wrong}

    with pytest.raises(ClientError, match=message):
        place.scheduler.create_schedule(Name="wrong", Target=place.target("x"), **given)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"Arn": "arn:aws:scheduler:::aws-sdk:sqs:getQueueUrl"}, "is not supported"),
        ({"Arn": "arn:aws:scheduler:::aws-sdk:sqs:sendPigeon"}, "is not supported"),
        (
            {
                "Arn": "arn:aws:scheduler:::aws-sdk:eks:updateNodegroupConfig",
                "Input": '{"clusterName": "a", "nodegroupName": "b"}',
            },
            r"missing the following field\(s\): ClusterName, NodegroupName\.",
        ),
        ({"Input": '{"QueueUrl": "u", "MessageBody": "b", "Colour": 1}'}, "Unknown field: Colour"),
        ({"Input": "5"}, "Invalid RequestJson provided"),
        ({"Input": "[]"}, "Invalid RequestJson provided"),
    ],
)
def test_a_target_is_refused(place: Place, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        place.create("wrong", "rate(1 hour)", Target=place.target("x", **wrong))


def test_a_role_that_does_not_trust_scheduler_is_refused(place: Place) -> None:
    role = place.make_role("other", "events.amazonaws.com")

    with pytest.raises(ClientError, match="must allow AWS EventBridge Scheduler to assume the rol"):
        place.create("wrong", "rate(1 hour)", Target=place.target("x", RoleArn=role))


def test_a_schedule_counts_from_when_it_is_seen_first(moment: datetime) -> None:
    being_created: Any = SimpleNamespace()

    assert (since(being_created), since(being_created)) == (moment, moment)
