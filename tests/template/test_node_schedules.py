"""NodeSchedules in a template."""

import json
from datetime import UTC, datetime, time

import aws_cdk as cdk
from aws_cdk.assertions import Template

from trainshed.guard.working_hours import WorkingHours
from trainshed_constructs import JobEnder, NodeSchedules, switch_group

TOPIC = "arn:aws:sns:us-west-2:123456789012:ops"
QUEUE = "arn:aws:batch:us-west-2:123456789012:job-queue/q"
EXPIRY = datetime(2126, 12, 31, 18, tzinfo=UTC)
HOURS = WorkingHours(
    days=("mon", "tue"), begins=time(8), ends=time(20), zone="America/Argentina/ComodRivadavia"
)


def test_a_cluster_with_the_longest_name_has_all_schedules() -> None:
    stack, longest = cdk.Stack(), "a" + "-a" * 49
    schedules = NodeSchedules(
        stack, "Guard", cluster=longest, switch=switch_group("nodes", nodes=4)
    )
    ender = JobEnder(stack, "End", cluster=longest, queue_arn=QUEUE, reason="expired")

    schedules.expire(EXPIRY)
    schedules.tell_before(EXPIRY, TOPIC)
    schedules.end_jobs(EXPIRY, ender.function)
    schedules.keep(HOURS, until=EXPIRY)

    resources = Template.from_stack(stack).find_resources("AWS::Scheduler::Schedule").values()
    found = [each["Properties"] for each in resources]
    assert len(found) == 6
    # EventBridge Scheduler API reference, CreateSchedule: a name has at most 64 characters.
    assert all(len(each.get("Name", "")) <= 64 for each in found)
    # SNS API reference, Publish: a subject has less than 100 characters.
    calls = [each["Target"]["Input"] for each in found]
    subjects = [json.loads(each)["Subject"] for each in calls if "Subject" in each]
    assert [(len(each), each[:30]) for each in subjects] == [
        (99, "Cluster expires in a day: a-a-"),
        (99, "Cluster expires in two hours: "),
    ]
