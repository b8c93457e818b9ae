"""How jobs are looked at: in few calls, and ever less often while nothing changes."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from trainshed.cli.job_display import display
from trainshed.errors import TrainshedError
from trainshed.jobs import run_command
from trainshed.jobs.lookup import find_job
from trainshed.jobs.model import ranges
from trainshed.jobs.watching import watch

NODES = 250


class Batch:
    """A region with one job, which is over after some looks.

    Args:
        statuses: one for each look.
    """

    def __init__(self, *statuses: str) -> None:
        self.name = "us-west-2"
        self.statuses = list(statuses)
        self.asked: list[list[str]] = []

    def call(self, service: str, operation: str, **params: Any) -> dict[str, Any]:
        assert (service, operation) == ("batch", "describe_jobs")
        self.asked.append(params["jobs"])
        if params["jobs"] == ["job-1"] and len(self.statuses) > 1:
            del self.statuses[0]
        # In another order than asked.
        return {"jobs": [self._job(each) for each in reversed(params["jobs"])]}

    def pages(self, service: str, operation: str, key: str, **params: Any) -> Any:
        assert operation == "describe_job_queues"
        return []

    def _job(self, job_id: str) -> dict[str, Any]:
        index = job_id.partition("#")[2]
        details: dict[str, Any] = {"nodeProperties": {"numNodes": NODES}}
        if index:
            details = {"nodeDetails": {"nodeIndex": int(index), "isMainNode": index == "0"}}
        return {
            "jobId": job_id,
            "jobName": "pretrain",
            "jobQueue": "arn:queue",
            "status": self.statuses[0],
            "createdAt": 1000,
            **details,
        }


def test_a_node_that_pulls_the_container_image_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    region: Any = Batch("STARTING")
    job = find_job(region, "job-1")

    with display() as show:
        show(job, ["a line"])

    [shown] = [line for line in capsys.readouterr().out.splitlines() if "pulls" in line]
    assert shown.endswith(f" node 0-{NODES - 1} STARTING: pulls the container image")


class BetweenAttempts(Batch):
    """A job whose only attempt so far is over on each node."""

    def _job(self, job_id: str) -> dict[str, Any]:
        status = "FAILED" if "#" in job_id else "RUNNING"
        attempts = [{"container": {"exitCode": 7}}]
        return super()._job(job_id) | {"status": status, "attempts": attempts}


def test_no_attempt_is_counted_before_a_node_of_it_waits_or_runs() -> None:
    region: Any = BetweenAttempts("RUNNING")

    job = find_job(region, "job-1")

    assert job.attempt == 1


def test_the_nodes_of_a_large_job_are_asked_for_by_the_hundred_and_are_in_order() -> None:
    region: Any = Batch("RUNNING")

    job = find_job(region, "job-1")

    assert [node.index for node in job.nodes] == list(range(NODES))
    assert [len(each) for each in region.asked] == [1, 100, 100, 50]


def test_a_job_that_does_not_change_is_asked_for_less_and_less_often() -> None:
    region: Any = Batch(*["RUNNABLE"] * 9, "RUNNING", "RUNNING", "SUCCEEDED")
    pauses: list[float] = []
    job = find_job(region, "job-1")

    statuses = [each.status for each in watch(region, job, pauses.append)]

    assert statuses == [*["RUNNABLE"] * 8, "RUNNING", "RUNNING", "SUCCEEDED"]
    assert pauses[0] == 1
    assert pauses[:8] == sorted(pauses[:8])
    assert max(pauses) == 10
    # Something has happened, so more may.
    assert pauses[8] == 1


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([4], "4"),
        ([0, 1], "0-1"),
        ([5, 0, 2, 3], "0, 2-3, 5"),
        (range(64), "0-63"),
    ],
)
def test_indices_of_nodes_are_written_as_ranges(indices: list[int], text: str) -> None:
    assert ranges(indices) == text


def test_a_job_that_batch_forgets_ends_the_watching() -> None:
    region: Any = Batch("RUNNING")
    job = find_job(region, "job-1")
    region.call = lambda *_, **__: {"jobs": []}

    with pytest.raises(TrainshedError, match="no longer knows job job-1"):
        list(watch(region, job, lambda _: None))


class RunCommand:
    """A region with one job of two nodes, whose instances come in another order, on one there."""

    name = "us-west-2"
    nodes = ("i-main", "i-child")

    def pages(self, service: str, operation: str, key: str, **_: Any) -> Any:
        document = {"hosts": ["10.0.0.1", "10.0.0.2"], "instances": self.nodes}
        job = base64.b64encode(json.dumps(document).encode()).decode()
        now = datetime(2026, 11, 1, tzinfo=UTC)
        progress = {"Status": "InProgress", "StatusDetails": "InProgress"}
        command = {
            "CommandId": COMMAND,
            "InstanceIds": self.nodes[::-1],
            "Parameters": {"Job": [job]},
            "RequestedDateTime": now,
            **progress,
        }
        return {
            "Commands": [command],
            "CommandInvocations": [{"InstanceId": each, **progress} for each in self.nodes],
            "Reservations": [{"Instances": [{"InstanceId": "i-child"}]}],
        }[key]


COMMAND = "01234567-89ab-cdef-0123-456789abcdef"


def test_a_job_whose_main_node_is_gone_has_failed_in_whatever_order_instances_come() -> None:
    region: Any = RunCommand()

    job = run_command.describe(region, COMMAND)

    assert job
    assert (job.status, job.reason) == ("FAILED", "Host EC2 (instance i-main) terminated.")
    assert [node.status for node in job.nodes] == ["FAILED", "RUNNING"]
