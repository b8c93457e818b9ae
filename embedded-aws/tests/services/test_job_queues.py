"""Batch job queues."""

from collections.abc import Callable
from typing import Any

import pytest

LIMIT = {
    "reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "state": "RUNNABLE",
    "maxTimeSeconds": 3600,
    "action": "CANCEL",
}


@pytest.fixture
def queue(name: str, compute_environment: str) -> dict[str, Any]:
    """The parameters of a queue that AWS accepts."""
    return {
        "jobQueueName": name,
        "priority": 1,
        "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": compute_environment}],
        "jobStateTimeLimitActions": [LIMIT],
    }


def test_a_queue_is_described_as_created(batch: Any, name: str, queue: dict[str, Any]) -> None:
    arn = batch.create_job_queue(**queue, tags={"cluster": name})["jobQueueArn"]

    (found,) = batch.describe_job_queues(jobQueues=[name])["jobQueues"]

    assert (found["jobQueueArn"], found["state"], found["status"]) == (arn, "ENABLED", "VALID")
    assert found["jobStateTimeLimitActions"] == [LIMIT]
    assert found["computeEnvironmentOrder"][0]["computeEnvironment"].startswith("arn:")
    assert found["tags"] == {"cluster": name}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"priority": -1}, "priority must be 0", id="priority"),
        pytest.param({"state": "PAUSED"}, "ENABLED, DISABLED", id="state"),
        pytest.param({"computeEnvironmentOrder": []}, "Between 1 and 3", id="none"),
        pytest.param(
            {"computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "nobody"}]},
            "nobody does not exist",
            id="unknown",
        ),
        pytest.param(
            {"schedulingPolicyArn": "arn:aws:batch:us-west-2:1:scheduling-policy/x"},
            "does not exist",
            id="policy",
        ),
        pytest.param(
            {"jobStateTimeLimitActions": [{**LIMIT, "maxTimeSeconds": 599}]},
            "between 600 and 86400",
            id="short",
        ),
        pytest.param(
            {"jobStateTimeLimitActions": [{**LIMIT, "maxTimeSeconds": 86401}]},
            "between 600 and 86400",
            id="long",
        ),
        pytest.param(
            {"jobStateTimeLimitActions": [{**LIMIT, "action": "TERMINATE"}]},
            "must be CANCEL",
            id="action",
        ),
        pytest.param(
            {"jobStateTimeLimitActions": [{**LIMIT, "state": "RUNNING"}]},
            "enum value set: [RUNNABLE]",
            id="job-state",
        ),
        pytest.param(
            {"jobStateTimeLimitActions": [{**LIMIT, "reason": "BAD_LUCK"}]},
            "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
            id="reason",
        ),
    ],
)
def test_broken_queues_are_refused(
    batch: Any,
    queue: dict[str, Any],
    refusal: Callable[..., Any],
    change: dict[str, Any],
    words: str,
) -> None:
    refused = refusal(batch.create_job_queue, **{**queue, **change})

    assert refused.code == "ClientException"
    assert words in refused.message


def test_orders_are_unique(batch: Any, queue: dict[str, Any], refusal: Callable[..., Any]) -> None:
    queue["computeEnvironmentOrder"] *= 2

    assert "must be unique" in refusal(batch.create_job_queue, **queue).message


def test_a_queue_is_deleted_when_disabled(
    batch: Any, name: str, queue: dict[str, Any], refusal: Callable[..., Any]
) -> None:
    batch.create_job_queue(**queue)

    refused = refusal(batch.delete_job_queue, jobQueue=name)
    batch.update_job_queue(jobQueue=name, state="DISABLED")
    batch.delete_job_queue(jobQueue=name)

    assert "must be DISABLED" in refused.message
    assert batch.describe_job_queues(jobQueues=[name])["jobQueues"] == []


def test_a_first_in_first_out_queue_gets_no_policy(
    batch: Any, name: str, queue: dict[str, Any], refusal: Callable[..., Any]
) -> None:
    batch.create_job_queue(**queue)
    policy = batch.create_scheduling_policy(name=name)["arn"]

    refused = refusal(batch.update_job_queue, jobQueue=name, schedulingPolicyArn=policy)

    assert "first-in-first-out" in refused.message


def test_a_refused_update_changes_nothing(
    batch: Any, name: str, queue: dict[str, Any], refusal: Callable[..., Any]
) -> None:
    batch.create_job_queue(**queue)

    refusal(batch.update_job_queue, jobQueue=name, priority=9, computeEnvironmentOrder=[])

    assert batch.describe_job_queues(jobQueues=[name])["jobQueues"][0]["priority"] == 1
