"""Jobs of one container on Spot: what EC2 takes back gets no further attempt."""

from pathlib import Path
from typing import Any

import pytest
from job_bench import JobBench

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault

AGAIN = {"attempts": 2}


@pytest.fixture
def bench(loopback_aws: EmbeddedAws) -> JobBench:
    return JobBench(loopback_aws, spot=True)


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """The file for which the first attempt waits before it fails."""
    return tmp_path / "go"


@pytest.fixture
def job(bench: JobBench, go: Path) -> str:
    """A job whose first attempt runs, and whose second one succeeds."""
    waits = f"echo waits; until [ -e {go} ]; do sleep 0.05; done; exit 9"
    script = f'[ "$AWS_BATCH_JOB_ATTEMPT" = 2 ] || {{ {waits}; }}'
    job = bench.submit(bench.define(script), retryStrategy=AGAIN)
    bench.wait_for_line(job, "waits")
    return job


def hosts(job: Any) -> list[str]:
    """The instance of each attempt."""
    arns = [each["container"]["containerInstanceArn"] for each in job["attempts"]]
    return [arn.rpartition("/")[2] for arn in arns]


def test_a_compute_environment_asks_for_spot_itself(bench: JobBench, job: str, go: Path) -> None:
    [instance] = bench.instances("running")

    assert instance["InstanceLifecycle"] == "spot"
    go.touch()
    first, second = hosts(bench.wait(job))
    assert (first, second) == (instance["InstanceId"], instance["InstanceId"])


def test_no_attempt_begins_on_an_instance_that_ec2_takes_back(
    bench: JobBench, job: str, go: Path
) -> None:
    [instance] = bench.instances("running")
    bench.aws.notify_spot(instance["InstanceId"], seconds=3600)
    go.touch()

    ended = bench.wait(job)

    first, second = hosts(ended)
    assert ended["status"] == "SUCCEEDED"
    assert first == instance["InstanceId"] != second


def test_a_job_whose_instance_ec2_has_taken_back_says_so_and_is_tried_again(
    bench: JobBench, job: str
) -> None:
    [instance] = bench.instances("running")
    bench.aws.notify_spot(instance["InstanceId"], seconds=0)

    ended = bench.wait(job)

    reasons = [each["statusReason"] for each in ended["attempts"]]
    assert reasons[0] == f"Host EC2 (instance {instance['InstanceId']}) terminated."
    assert ended["status"] == "SUCCEEDED"


def test_a_recommendation_alone_lets_the_next_attempt_stay(
    bench: JobBench, job: str, go: Path
) -> None:
    [instance] = bench.instances("running")
    bench.aws.notify_spot(instance["InstanceId"], "rebalance")
    go.touch()

    assert hosts(bench.wait(job)) == [instance["InstanceId"]] * 2


def test_a_multi_node_job_that_waits_when_its_queue_moves_to_spot_stays_there(
    loopback_aws: EmbeddedAws, bench: JobBench
) -> None:
    before = JobBench(loopback_aws)
    loopback_aws.fail(
        Fault(service="ec2", operation="RunInstances", code="InsufficientInstanceCapacity")
    )
    job = before.submit(before.define("true", nodes=1))
    before.wait(job, "RUNNABLE", reason="CAPACITY:")

    before.batch.update_job_queue(
        jobQueue=before.queue,
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": bench.queue}],
    )
    loopback_aws.fail()

    before.wait(job, "RUNNABLE", reason="UNDETERMINED")
    before.batch.terminate_job(jobId=job, reason="seen")
