"""The instances of a compute environment that have no job: those of its minimum, and of a delay."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from command_bench import until
from job_bench import NODES_POLICY, VCPUS, JobBench

from embedded_aws.embedded import EmbeddedAws

ENVIRONMENTS = "computeEnvironments"


@pytest.fixture
def make(loopback_aws: EmbeddedAws) -> Iterator[Callable[..., JobBench]]:
    """Makes queues; afterwards they are gone, and EC2 has room for everything."""
    made: list[JobBench] = []

    def bench(**settings: Any) -> JobBench:
        made.append(JobBench(loopback_aws, **settings))
        assert made[-1].queue
        return made[-1]

    yield bench
    loopback_aws.fail()
    for each in made:
        delete(each)


def delete(bench: JobBench) -> None:
    """Delete the queue and its environment, which may be gone."""
    queues = bench.batch.describe_job_queues(jobQueues=[bench.name])["jobQueues"]
    if queues:
        bench.batch.update_job_queue(jobQueue=bench.name, state="DISABLED")
        bench.batch.delete_job_queue(jobQueue=bench.name)
        remove(bench)


def remove(bench: JobBench) -> None:
    """Delete the environment, which no queue has."""
    update(bench, state="DISABLED")
    bench.batch.delete_compute_environment(computeEnvironment=bench.name)


def update(bench: JobBench, **changes: Any) -> None:
    bench.batch.update_compute_environment(computeEnvironment=bench.name, **changes)


def there(bench: JobBench) -> set[str]:
    return {each["InstanceId"] for each in bench.instances("pending", "running")}


def desired(bench: JobBench) -> int:
    """How many instances the environment wants."""
    [found] = bench.batch.describe_compute_environments(computeEnvironments=[bench.name])[
        ENVIRONMENTS
    ]
    return int(found["computeResources"]["desiredvCpus"]) // VCPUS


def kept(bench: JobBench, count: int, without: str = "") -> set[str]:
    """Wait for a number of instances, none of which is a certain one; return them."""

    def found() -> set[str]:
        now = there(bench)
        return now if len(now) == count and without not in now else set()

    instances: set[str] = until(found, f"{count} instances")
    return instances


def members(bench: JobBench) -> dict[str, str]:
    """The status of each container instance of the environment, by its instance."""
    [found] = bench.batch.describe_compute_environments(computeEnvironments=[bench.name])[
        ENVIRONMENTS
    ]
    ecs, cluster = bench.aws.client("ecs"), found["ecsClusterArn"]
    arns = ecs.list_container_instances(cluster=cluster)["containerInstanceArns"]
    if not arns:
        return {}
    described = ecs.describe_container_instances(cluster=cluster, containerInstances=arns)
    return {each["ec2InstanceId"]: each["status"] for each in described["containerInstances"]}


def drain(bench: JobBench, instance: str) -> None:
    [found] = bench.batch.describe_compute_environments(computeEnvironments=[bench.name])[
        ENVIRONMENTS
    ]
    bench.aws.client("ecs").update_container_instances_state(
        cluster=found["ecsClusterArn"], containerInstances=[instance], status="DRAINING"
    )


def hosts(bench: JobBench, job: Any, nodes: int) -> set[str]:
    """The instances of a job's nodes."""
    found = [bench.describe(f"{job['jobId']}#{index}") for index in range(nodes)]
    return {each["container"]["containerInstanceArn"].rpartition("/")[2] for each in found}


def test_the_minimum_is_launched_without_a_job(make: Callable[..., JobBench]) -> None:
    bench = make(minimum=2)

    instances = kept(bench, 2)

    until(lambda: set(members(bench)) == instances, "both in ECS")
    assert set(members(bench).values()) == {"ACTIVE"}
    [group] = bench.groups()
    assert {each["InstanceId"] for each in group["Instances"]} == instances
    assert group["DesiredCapacity"] == desired(bench) == 2


def test_jobs_run_on_the_minimum_which_stays(make: Callable[..., JobBench]) -> None:
    bench = make(minimum=2)
    instances = kept(bench, 2)

    first, second = (bench.run("true", nodes=2) for _ in range(2))

    assert hosts(bench, first, 2) == hosts(bench, second, 2) == instances
    assert there(bench) == instances


def test_what_a_job_leaves_on_the_disk_is_there_for_the_next_one(
    make: Callable[..., JobBench],
) -> None:
    bench = make(minimum=1)
    kept(bench, 1)

    bench.run('touch "$EMBEDDED_AWS_NODE/left"')
    second = bench.run('ls "$EMBEDDED_AWS_NODE/left" && echo found')

    assert second["status"] == "SUCCEEDED"
    assert bench.lines(second)[-1] == "found"


def test_a_larger_job_gets_the_minimum_and_others_that_end_with_it(
    make: Callable[..., JobBench],
) -> None:
    bench = make(minimum=1)
    [only] = kept(bench, 1)

    job = bench.run("true", nodes=3)

    assert only in hosts(bench, job, 3)
    assert len(there(bench)) == desired(bench) == 1


def test_all_instances_count_for_the_maximum(make: Callable[..., JobBench]) -> None:
    bench = make(minimum=2, maximum=2)
    drained, other = sorted(kept(bench, 2))
    until(lambda: drained in members(bench), "the instance in ECS")
    drain(bench, drained)

    small = bench.run("true", nodes=1)
    large = bench.submit(bench.define("true", nodes=2))

    assert hosts(bench, small, 1) == {other}
    bench.wait(large, "RUNNABLE")
    before = time.time() * 1000
    bench.ec2.terminate_instances(InstanceIds=[drained])
    done = bench.wait(large)
    # It began when there was room for another one.
    assert done["status"] == "SUCCEEDED"
    assert done["startedAt"] >= before
    assert drained not in hosts(bench, done, 2)


@pytest.mark.parametrize("state", ["ENABLED", "DISABLED"])
def test_one_that_is_terminated_is_replaced(make: Callable[..., JobBench], state: str) -> None:
    bench = make(minimum=2)
    gone, other = kept(bench, 2)
    update(bench, state=state)

    bench.ec2.terminate_instances(InstanceIds=[gone])

    assert other in kept(bench, 2, without=gone)
    until(lambda: len(bench.groups()[0]["Instances"]) == 2, "the group without it")


def test_one_that_is_stopped_ends_and_is_replaced(make: Callable[..., JobBench]) -> None:
    bench = make(minimum=1)
    [gone] = kept(bench, 1)

    bench.ec2.stop_instances(InstanceIds=[gone])

    kept(bench, 1, without=gone)
    until(lambda: gone in {each["InstanceId"] for each in bench.instances("terminated")}, "its end")


def test_a_job_that_loses_an_instance_leaves_the_minimum_whole(
    make: Callable[..., JobBench],
) -> None:
    bench = make(minimum=2)
    kept(bench, 2)
    job = bench.submit(bench.define("exec sleep 100", nodes=2))
    bench.wait(f"{job}#1", "RUNNING")
    [lost] = {bench.describe(f"{job}#1")["container"]["containerInstanceArn"].rpartition("/")[2]}

    bench.ec2.terminate_instances(InstanceIds=[lost])

    # Meanwhile its main node goes on.
    kept(bench, 2, without=lost)
    bench.batch.terminate_job(jobId=job, reason="the test is over")
    bench.wait(job)
    assert len(there(bench)) == 2


def test_another_minimum_launches_or_ends_instances_and_replaces_none(
    make: Callable[..., JobBench],
) -> None:
    bench = make(minimum=1)
    first = kept(bench, 1)

    update(bench, computeResources={"minvCpus": 3 * VCPUS})
    more = kept(bench, 3)
    update(bench, computeResources={"minvCpus": 1 * VCPUS})
    fewer = kept(bench, 1)

    assert first < more
    assert fewer < more
    until(lambda: desired(bench) == 1, "fewer desired")
    update(bench, computeResources={"minvCpus": 0})
    until(lambda: not there(bench) and desired(bench) == 0, "no instance")


def test_one_that_cannot_join_ecs_stays_and_is_given_no_job(
    loopback_aws: EmbeddedAws,
) -> None:
    bench = JobBench(loopback_aws, minimum=1)
    loopback_aws.client("iam").detach_role_policy(RoleName=bench.node_role, PolicyArn=NODES_POLICY)
    assert bench.queue
    only = kept(bench, 1)

    job = bench.submit(bench.define("true"))

    bench.wait(job, "RUNNABLE", reason="UNDETERMINED")
    assert members(bench) == {}
    until(lambda: there(bench) == only, "the end of the job's instance")
    delete(bench)


def test_an_instance_stays_that_the_minimum_needs_in_part(make: Callable[..., JobBench]) -> None:
    bench = make(minimum=2)
    instances = kept(bench, 2)

    update(bench, computeResources={"minvCpus": VCPUS + 4})
    bench.run("true", nodes=2)

    assert there(bench) == instances


def test_a_deleted_environment_leaves_no_instance(make: Callable[..., JobBench]) -> None:
    bench = make(minimum=2)
    instances = kept(bench, 2)

    delete(bench)

    assert {each["InstanceId"] for each in bench.instances("terminated")} == instances
    assert bench.groups() == []


def test_an_instance_of_an_environment_that_is_deleted_ends_with_its_job(
    make: Callable[..., JobBench],
) -> None:
    bench = make(minimum=1)
    kept(bench, 1)
    job = bench.submit(bench.define("exec sleep 100"))
    bench.wait(job, "RUNNING")

    # It may be deleted once no queue has it.
    order = [{"order": 1, "computeEnvironment": make().name}]
    bench.batch.update_job_queue(jobQueue=bench.name, computeEnvironmentOrder=order)
    [deleted] = bench.batch.describe_compute_environments(computeEnvironments=[bench.name])[
        ENVIRONMENTS
    ]
    remove(bench)
    assert len(there(bench)) == 1
    # Another one of its name has none of its instances.
    bench.batch.create_compute_environment(
        computeEnvironmentName=bench.name,
        type="MANAGED",
        computeResources={**deleted["computeResources"], "minvCpus": 0, "desiredvCpus": 0},
    )
    assert desired(bench) == 0
    remove(bench)
    assert [len(each["Instances"]) for each in bench.groups()] == [1]
    bench.batch.terminate_job(jobId=job, reason="the test is over")

    until(lambda: not there(bench), "no instance")
    until(lambda: not bench.groups(), "no group")
    bench.batch.update_job_queue(jobQueue=bench.name, state="DISABLED")
    bench.batch.delete_job_queue(jobQueue=bench.name)


def test_other_settings_replace_the_minimum(make: Callable[..., JobBench]) -> None:
    bench = make(minimum=2)
    before = kept(bench, 2)

    update(bench, computeResources={"tags": {"team": "speech"}})

    until(lambda: len(there(bench) - before) == 2 and not there(bench) & before, "others")
    tags = [tag for each in bench.instances("running") for tag in each["Tags"]]
    assert {"Key": "team", "Value": "speech"} in tags
    assert {"Key": "team", "Value": "vision"} not in tags


def test_a_minimum_without_capacity_is_tried_again(make: Callable[..., JobBench]) -> None:
    bench = make()
    bench.leave_room(1)

    update(bench, computeResources={"minvCpus": 2 * VCPUS})

    first = kept(bench, 1)
    until(bench.failed_launches, "a refused launch")
    assert desired(bench) == 2
    bench.aws.fail()
    assert first < kept(bench, 2)


def test_an_instance_is_kept_for_the_delay_after_its_job(make: Callable[..., JobBench]) -> None:
    # A sixtieth of it: 20 seconds.
    bench = make(delay_minutes=20)

    first, second = (bench.run("true", nodes=1) for _ in range(2))

    assert hosts(bench, first, 1) == hosts(bench, second, 1) == there(bench)
    until(lambda: not there(bench), "the end of the delay")
    until(lambda: desired(bench) == 0, "fewer desired")
