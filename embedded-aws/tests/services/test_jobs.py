"""Batch jobs: accepted or refused, never run."""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def queue(batch: Any, name: str, compute_environment: str) -> str:
    batch.create_job_queue(
        jobQueueName=name,
        priority=1,
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": compute_environment}],
    )
    return name


@pytest.fixture
def definition(batch: Any, name: str, node_group: dict[str, Any]) -> str:
    batch.register_job_definition(
        jobDefinitionName=name,
        type="multinode",
        nodeProperties={"numNodes": 4, "mainNode": 0, "nodeRangeProperties": [node_group]},
    )
    return name


def test_a_multi_node_job_waits(batch: Any, queue: str, definition: str) -> None:
    job = batch.submit_job(
        jobName="run",
        jobQueue=queue,
        jobDefinition=definition,
        nodeOverrides={"numNodes": 16},
    )["jobId"]

    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    listed = batch.list_jobs(jobQueue=queue, jobStatus="RUNNABLE")["jobSummaryList"]

    assert (found["status"], found["nodeProperties"]["numNodes"]) == ("RUNNABLE", 16)
    assert "nothing runs jobs" in found["statusReason"]
    assert [one["jobId"] for one in listed] == [job]
    assert batch.list_jobs(jobQueue=queue)["jobSummaryList"] == []


@pytest.mark.parametrize("method", ["cancel_job", "terminate_job"])
def test_a_waiting_job_is_stopped(batch: Any, queue: str, definition: str, method: str) -> None:
    job = batch.submit_job(jobName="run", jobQueue=queue, jobDefinition=definition)["jobId"]

    getattr(batch, method)(jobId=job, reason="enough")

    (found,) = batch.describe_jobs(jobs=[job])["jobs"]
    assert (found["status"], found["statusReason"]) == ("FAILED", "enough")


def test_spot_takes_no_multi_node_job(
    batch: Any,
    name: str,
    resources: dict[str, Any],
    definition: str,
    refusal: Callable[..., Any],
) -> None:
    resources |= {"type": "SPOT", "allocationStrategy": "SPOT_CAPACITY_OPTIMIZED"}
    batch.create_compute_environment(
        computeEnvironmentName=name, type="MANAGED", computeResources=resources
    )
    batch.create_job_queue(
        jobQueueName=name,
        priority=1,
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": name}],
    )

    refused = refusal(batch.submit_job, jobName="run", jobQueue=name, jobDefinition=definition)

    assert refused.code == "ClientException"
    assert "Multi-node parallel jobs are not supported" in refused.message
    assert "of type SPOT" in refused.message


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        pytest.param({"numNodes": 1001}, "between 1 and 1000", id="many"),
        pytest.param(
            {"nodePropertyOverrides": [{"targetNodes": "0:0"}]},
            "Non matching targets - 0:0",
            id="target",
        ),
    ],
)
def test_broken_overrides_are_refused(
    batch: Any,
    queue: str,
    definition: str,
    refusal: Callable[..., Any],
    overrides: dict[str, Any],
    words: str,
) -> None:
    refused = refusal(
        batch.submit_job,
        jobName="run",
        jobQueue=queue,
        jobDefinition=definition,
        nodeOverrides=overrides,
    )

    assert words in refused.message


def test_a_closed_range_takes_no_other_number_of_nodes(
    batch: Any, queue: str, node_group: dict[str, Any], refusal: Callable[..., Any]
) -> None:
    batch.register_job_definition(
        jobDefinitionName=queue,
        type="multinode",
        nodeProperties={
            "numNodes": 4,
            "mainNode": 0,
            "nodeRangeProperties": [{**node_group, "targetNodes": "0:3"}],
        },
    )

    refused = refusal(
        batch.submit_job,
        jobName="run",
        jobQueue=queue,
        jobDefinition=queue,
        nodeOverrides={"numNodes": 8},
    )

    assert "open upper boundary" in refused.message


def test_a_disabled_queue_takes_no_jobs(
    batch: Any, queue: str, definition: str, refusal: Callable[..., Any]
) -> None:
    batch.update_job_queue(jobQueue=queue, state="DISABLED")

    refused = refusal(batch.submit_job, jobName="run", jobQueue=queue, jobDefinition=definition)

    assert "is disabled" in refused.message


def test_unknown_names_are_refused(
    batch: Any, queue: str, definition: str, refusal: Callable[..., Any]
) -> None:
    submit = {"jobName": "run", "jobQueue": queue, "jobDefinition": definition}

    assert "nobody" in refusal(batch.submit_job, **{**submit, "jobQueue": "nobody"}).message
    assert "nobody" in refusal(batch.submit_job, **{**submit, "jobDefinition": "nobody"}).message
    assert "nobody" in refusal(batch.cancel_job, jobId="nobody", reason="x").message
