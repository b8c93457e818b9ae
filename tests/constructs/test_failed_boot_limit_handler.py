"""The function that stops launches: what other services do not always answer."""

import json
import logging
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from trainshed_constructs import disable_environment, suspend_node_group
from trainshed_constructs.custom_resources.failed_boot_limit import handler as failed_boot_limit
from trainshed_constructs.custom_resources.failed_boot_limit.construct import StopLaunches

ARN = "arn:aws:batch:us-west-2:123456789012:compute-environment/x"
EVENT = {"detail": {"instance-id": "i-1", "state": "terminated"}}


class Aws:
    """The three services, with nodes i-1, i-2 and so on that ended for these reasons.

    Nodes of `boots` say that by their tags, the others do not.
    """

    def __init__(
        self,
        *reasons: str | None,
        console: str | None = "",
        sums: Any = (),
        boots: Mapping[int, str] = {},
    ):
        self.boots = boots
        self.reasons = reasons
        self.console = console
        self.sums = sums
        self.updates: list[dict[str, Any]] = []
        self.counted = 0

    def get_paginator(self, operation: str) -> "Aws":
        assert operation == "describe_instances"
        return self

    def paginate(self, *, Filters: list[dict[str, Any]]) -> list[dict[str, Any]]:
        [wanted] = [each["Values"] for each in Filters if each["Name"] == "state-reason-code"]
        instances = [
            {
                "InstanceId": f"i-{number}",
                "StateReason": {"Code": reason},
                "Tags": [
                    {"Key": "trainshed:cluster", "Value": "C"},
                    {"Key": "aws:autoscaling:groupName", "Value": f"eks-nodes-{number}"},
                    {"Key": "trainshed:boot", "Value": self.boots.get(number, "failed: lost")},
                ],
            }
            for number, reason in enumerate(self.reasons, start=1)
            if reason in wanted
        ]
        # A page for each.
        return [{"Reservations": [{"Instances": [instance]}]} for instance in instances]

    def get_console_output(self, **_: Any) -> dict[str, Any]:
        if self.console is None:
            raise ClientError({"Error": {"Code": "UnauthorizedOperation"}}, "GetConsoleOutput")
        # Nothing was posted yet: EC2 leaves the member out.
        return {"Output": self.console} if self.console else {}

    def get_metric_statistics(self, **_: Any) -> dict[str, Any]:
        return {"Datapoints": [{"Sum": each} for each in self.sums]}

    def put_metric_data(self, **_: Any) -> None:
        self.counted += 1

    def update_compute_environment(self, **given: Any) -> None:
        self.updates.append(given)

    def suspend_processes(self, **given: Any) -> None:
        self.updates.append(given)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    def call(aws: Aws, *, minimum: int = 0, stop: StopLaunches | None = None) -> Aws:
        stop = stop or disable_environment(ARN, min_vcpus=minimum)
        names = {
            "CLUSTER": "C",
            "LIMIT": "3",
            "HOURS": "3",
            "STOP": json.dumps(stop.call),
            "STOPPED": stop.done,
            "UNDO": stop.undo,
        }
        for name, value in names.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(failed_boot_limit, "boto3", SimpleNamespace(client=lambda service: aws))
        failed_boot_limit.handler(EVENT, None)
        return aws

    return call


OFF = "Client.InstanceInitiatedShutdown"


def test_counts_of_several_periods_are_added(run: Any) -> None:
    assert run(Aws(OFF, sums=[1.0])).updates == []
    assert run(Aws(OFF, sums=[1.0, 1.0])).updates == [
        {"computeEnvironment": ARN, "state": "DISABLED"}
    ]


def test_a_whole_gang_that_fails_at_once_is_seen_before_the_metric_is(run: Any) -> None:
    assert run(Aws(OFF, OFF)).updates == []
    assert run(Aws(OFF, OFF, OFF)).updates != []


def test_a_minimum_is_taken_away_and_reported(run: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        aws = run(Aws(OFF, sums=[2.0]), minimum=128)

    assert aws.updates[0]["computeResources"] == {"minvCpus": 0}
    assert "--state ENABLED --compute-resources minvCpus=128" in caplog.text


def test_the_group_of_a_managed_node_group_is_found_at_the_node(
    run: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        aws = run(Aws(OFF, OFF, OFF), stop=suspend_node_group("train"))

    [suspended] = aws.updates
    assert suspended == {"AutoScalingGroupName": "eks-nodes-1", "ScalingProcesses": ["Launch"]}
    assert "resume-processes" in caplog.text
    assert "--auto-scaling-group-name eks-nodes-1" in caplog.text


@pytest.mark.parametrize("reason", [None, "Client.UserInitiatedShutdown"])
def test_what_did_not_power_itself_off_is_not_counted(run: Any, reason: str | None) -> None:
    aws = run(Aws(reason, OFF, OFF, OFF, sums=[5.0]))

    assert (aws.counted, aws.updates) == (0, [])


def test_a_node_that_booted_well_and_was_marked_by_its_job_is_not_counted(run: Any) -> None:
    aws = run(Aws(OFF, OFF, OFF, sums=[5.0], boots={1: "ok"}))

    assert (aws.counted, aws.updates) == (0, [])


def test_nodes_that_jobs_marked_do_not_bring_the_limit_nearer(run: Any) -> None:
    aws = run(Aws(OFF, OFF, OFF, OFF, boots={2: "ok", 3: "ok"}))

    assert (aws.counted, aws.updates) == (1, [])


@pytest.mark.parametrize(
    ("console", "message"),
    [
        ("boot\ntrainshed: ERROR: /fsx: gone\n", "trainshed: ERROR: /fsx: gone"),
        ("", "aws ec2 get-console-output --instance-id i-1"),
        (None, "its console cannot be read: An error occurred (UnauthorizedOperation)"),
    ],
)
def test_the_limit_holds_whatever_the_console_has(
    run: Any, caplog: pytest.LogCaptureFixture, console: str | None, message: str
) -> None:
    with caplog.at_level(logging.WARNING):
        aws = run(Aws(OFF, sums=[2.0], console=console))

    assert aws.updates
    assert message in caplog.text
