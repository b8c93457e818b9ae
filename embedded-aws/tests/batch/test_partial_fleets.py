"""Jobs for whose nodes EC2 has too little room: those that it has room for run, and are billed."""

from collections.abc import Iterator

import pytest
from job_bench import JobBench

WAIT = "echo running; exec sleep 100"


@pytest.fixture
def full(bench: JobBench) -> Iterator[JobBench]:
    """Afterwards EC2 has room for everything."""
    yield bench
    bench.aws.fail()


def running(bench: JobBench) -> set[str]:
    return {each["InstanceId"] for each in bench.instances("running")}


def wait_until_ended(bench: JobBench, instances: set[str]) -> None:
    bench.ec2.get_waiter("instance_terminated").wait(
        InstanceIds=sorted(instances), WaiterConfig={"Delay": 1}
    )


def test_nodes_that_there_is_room_for_run_while_the_job_waits(full: JobBench) -> None:
    full.leave_room(2)
    job = full.submit(full.define("true", nodes=4))

    full.wait(job, "RUNNABLE", reason="CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY")
    first = running(full)
    assert len(first) == 2
    assert len(full.failed_launches()) == 1
    assert full.describe(job)["attempts"] == []

    full.aws.fail()
    assert full.wait(job)["status"] == "SUCCEEDED"

    hosts = {
        full.describe(f"{job}#{index}")["container"]["containerInstanceArn"].rpartition("/")[2]
        for index in range(4)
    }
    assert len(hosts) == 4
    assert first < hosts
    wait_until_ended(full, hosts)


def test_each_try_launches_what_there_is_room_for_by_then(full: JobBench) -> None:
    full.leave_room(1)
    job = full.submit(full.define(WAIT, nodes=3))
    full.wait(job, "RUNNABLE", reason="CAPACITY:")
    before = running(full)
    [lost] = before

    # Its place is free again, and one more.
    full.ec2.terminate_instances(InstanceIds=[lost])
    full.leave_room(2)
    while len(running(full)) < 2:
        assert full.describe(job)["status"] == "RUNNABLE"
    full.batch.cancel_job(jobId=job, reason="enough")
    full.wait(job)

    launched = {each["InstanceId"] for each in full.instances("running", "terminated")} - before
    assert len(launched) == 2
    wait_until_ended(full, launched)


def test_the_desired_vcpus_follow_the_instances(full: JobBench) -> None:
    full.leave_room(1)
    job = full.submit(full.define("true", nodes=2))
    full.wait(job, "RUNNABLE", reason="CAPACITY:")
    [instance] = full.instances("running")

    def desired() -> int:
        environments = full.batch.describe_compute_environments(computeEnvironments=[full.name])
        [found] = environments["computeEnvironments"]
        return int(found["computeResources"]["desiredvCpus"])

    [facts] = full.ec2.describe_instance_types(InstanceTypes=[instance["InstanceType"]])[
        "InstanceTypes"
    ]
    assert desired() == facts["VCpuInfo"]["DefaultVCpus"]

    full.batch.cancel_job(jobId=job, reason="enough")
    full.wait(job)
    wait_until_ended(full, {instance["InstanceId"]})
    assert desired() == 0


def test_in_another_environment_the_job_gets_other_nodes(full: JobBench) -> None:
    full.leave_room(1)
    job = full.submit(full.define("true", nodes=2))
    full.wait(job, "RUNNABLE", reason="CAPACITY:")
    [before] = running(full)

    [environment] = full.batch.describe_compute_environments(computeEnvironments=[full.name])[
        "computeEnvironments"
    ]
    resources = {**environment["computeResources"], "tags": {"team": "speech"}}
    other = f"{full.name}-other"
    full.batch.create_compute_environment(
        computeEnvironmentName=other, type="MANAGED", computeResources=resources
    )
    full.batch.update_job_queue(
        jobQueue=full.queue,
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": other}],
    )
    full.aws.fail()
    full.wait(job)

    wait_until_ended(full, {before})
    nodes = [each for each in full.instances("terminated") if each["InstanceId"] != before]
    tags = [{tag["Key"]: tag["Value"] for tag in each["Tags"]} for each in nodes]
    assert [each["team"] for each in tags] == ["speech", "speech"]


@pytest.mark.parametrize("ends", ["the-queue", "somebody"])
def test_the_nodes_end_with_the_wait(full: JobBench, ends: str) -> None:
    full.leave_room(2)
    job = full.submit(full.define("true", nodes=4))
    full.wait(job, "RUNNABLE", reason="CAPACITY:")
    nodes = running(full)
    assert len(nodes) == 2

    if ends == "somebody":
        full.batch.terminate_job(jobId=job, reason="enough")
    ended = full.wait(job)

    assert (ended["status"], ended["attempts"]) == ("FAILED", [])
    assert ended.get("isCancelled", False) == (ends == "the-queue")
    wait_until_ended(full, nodes)
    # At once, and after pauses of one, two and four minutes.
    assert 1 <= len(full.failed_launches()) <= 4
