"""What keeps jobs from running, and what they then say."""

import json
from functools import partial

import pytest
from botocore.exceptions import ClientError
from job_bench import NODES_POLICY, JobBench

from embedded_aws.faults import Fault

ECR = "123456789012.dkr.ecr.us-west-2.amazonaws.com"
NO_CAPACITY = Fault(
    service="ec2", operation="RunInstances", code="InsufficientInstanceCapacity", count=None
)
MANIFEST = (
    '{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": []}'
)
WAIT = "echo running; exec sleep 100"


@pytest.fixture
def no_capacity(bench: JobBench):  # type: ignore[no-untyped-def]
    bench.aws.fail(NO_CAPACITY)
    yield
    bench.aws.fail()


def test_nodes_are_instances_that_end_with_the_job(bench: JobBench) -> None:
    job = bench.submit(bench.define(WAIT, nodes=2))
    bench.wait_for_line(f"{job}#1", "running")

    running = bench.instances("running")
    bench.batch.terminate_job(jobId=job, reason="seen")
    bench.wait(job)

    node = bench.describe(f"{job}#0")["container"]
    assert {each["InstanceType"] for each in running} == {"trn1.32xlarge"}
    assert len(running) == 2
    for instance in running:
        tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
        assert tags["AWSBatchServiceTag"] == "batch"
        assert tags["team"] == "vision"
    ids = {each["InstanceId"] for each in running}
    assert node["containerInstanceArn"].rpartition("/")[2] in ids
    assert bench.instances("pending", "running") == []


def test_a_terminated_host_of_the_main_node_fails_the_attempt(bench: JobBench) -> None:
    rules = [
        {"onStatusReason": "Host EC2*", "action": "RETRY"},
        {"onReason": "*", "action": "EXIT"},
    ]
    job = bench.submit(
        bench.define(f"[ $AWS_BATCH_JOB_ATTEMPT = 1 ] || exit 0; {WAIT}", nodes=2),
        retryStrategy={"attempts": 3, "evaluateOnExit": rules},
    )
    bench.wait_for_line(f"{job}#1", "running")
    arn = bench.describe(f"{job}#0")["container"]["containerInstanceArn"]
    instance = arn.rpartition("/")[2]

    bench.ec2.terminate_instances(InstanceIds=[instance])

    ended = bench.wait(job)
    assert ended["status"] == "SUCCEEDED"
    lost, last = ended["attempts"]
    assert lost["statusReason"] == f"Host EC2 (instance {instance}) terminated."
    assert "exitCode" not in lost["container"]
    assert last["container"]["exitCode"] == 0


def test_a_terminated_host_of_a_child_ends_that_child_only(bench: JobBench) -> None:
    job = bench.submit(bench.define(WAIT, nodes=2))
    bench.wait_for_line(f"{job}#1", "running")
    arn = bench.describe(f"{job}#1")["container"]["containerInstanceArn"]

    bench.ec2.terminate_instances(InstanceIds=[arn.rpartition("/")[2]])

    child = bench.wait(f"{job}#1")
    assert child["statusReason"].startswith("Host EC2 (instance i-")
    assert bench.describe(job)["status"] == "RUNNING"
    bench.batch.terminate_job(jobId=job, reason="seen")
    bench.wait(job)


def test_without_capacity_a_job_waits_and_its_queue_cancels_it(
    bench: JobBench, no_capacity: None
) -> None:
    job = bench.submit(bench.define("true", nodes=2))
    behind = bench.submit(bench.define("true"))

    waiting = bench.wait(job, "RUNNABLE", reason="CAPACITY")
    ended = bench.wait(job)

    reason = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
    assert waiting["statusReason"] == (
        f"{reason} - Service cannot fulfill the capacity requested for instance type "
        "[trn1.32xlarge]"
    )
    assert (ended["status"], ended["isCancelled"]) == ("FAILED", True)
    assert ended["statusReason"] == f"Canceled by JobStateTimeLimit action due to reason: {reason}"
    assert ended["attempts"] == []
    # The next one is at the head now.
    bench.wait(behind, "RUNNABLE", reason="CAPACITY")
    bench.batch.cancel_job(jobId=behind, reason="enough")
    assert bench.wait(behind)["statusReason"] == "enough"


def test_a_job_starts_when_there_is_capacity_again(bench: JobBench, no_capacity: None) -> None:
    job = bench.submit(bench.define("true", nodes=2))
    bench.wait(job, "RUNNABLE", reason="CAPACITY")

    bench.aws.fail()

    assert bench.wait(job)["status"] == "SUCCEEDED"


def test_a_job_larger_than_the_compute_environment_says_so(bench: JobBench) -> None:
    job = bench.submit(bench.define("true", nodes=65))

    waiting = bench.wait(job, "RUNNABLE", reason="MISCONFIGURATION")
    bench.batch.terminate_job(jobId=job, reason="enough")

    assert "COMPUTE_ENVIRONMENT_MAX_RESOURCE" in waiting["statusReason"]
    assert bench.wait(job)["statusReason"] == "enough"


def test_a_container_larger_than_the_instance_says_so(bench: JobBench) -> None:
    needs = [{"type": "VCPU", "value": "129"}, {"type": "MEMORY", "value": "1000"}]
    job = bench.submit(bench.define("true", resourceRequirements=needs))

    waiting = bench.wait(job, "RUNNABLE", reason="MISCONFIGURATION")
    bench.batch.terminate_job(jobId=job, reason="enough")

    assert "JOB_RESOURCE_REQUIREMENT" in waiting["statusReason"]


@pytest.mark.parametrize(
    ("cluster", "joins"),
    [pytest.param("AWSBatch-*", True, id="own"), pytest.param("another", False, id="another")],
)
def test_instances_run_jobs_if_they_may_join_the_cluster(
    bench: JobBench, cluster: str, joins: bool
) -> None:
    iam, role = bench.aws.client("iam"), bench.node_role
    statement = {"Effect": "Allow", "Action": ["ecs:Poll", "ecs:RegisterContainerInstance"]}
    arn = "arn:aws:ecs:us-west-2:123456789012:"
    own = [f"{arn}cluster/{cluster}", f"{arn}container-instance/{cluster}/*"]
    iam.detach_role_policy(RoleName=role, PolicyArn=NODES_POLICY)
    iam.put_role_policy(
        RoleName=role,
        PolicyName="join",
        PolicyDocument=json.dumps({"Statement": [{**statement, "Resource": own}]}),
    )

    job = bench.submit(bench.define("echo hello", nodes=2))

    if joins:
        assert bench.wait(job)["status"] == "SUCCEEDED"
    else:
        bench.wait(job, "RUNNABLE", reason="UNDETERMINED - Batch job is blocked")
        bench.batch.cancel_job(jobId=job, reason="seen")
        assert bench.wait(job)["attempts"] == []


def test_an_image_that_is_not_in_the_repository_fails_the_task(bench: JobBench) -> None:
    ecr = bench.aws.client("ecr")
    image = f"{ECR}/{bench.name}:1"
    no_repository = bench.run("true", image=image)
    ecr.create_repository(repositoryName=bench.name)
    no_image = bench.run("true", image=image)
    ecr.put_image(repositoryName=bench.name, imageManifest=MANIFEST, imageTag="1")
    good = bench.run("true", image=image)

    for job, words in ((no_repository, "does not exist"), (no_image, "not found")):
        assert job["statusReason"] == "Task failed to start"
        assert job["container"]["reason"].startswith("CannotPullContainerError: ")
        assert words in job["container"]["reason"]
    assert good["status"] == "SUCCEEDED"


def test_a_missing_log_group_fails_the_task(bench: JobBench) -> None:
    group = f"/{bench.name}"
    options = {"awslogs-group": group, "awslogs-stream-prefix": "bert"}
    logging = {"logDriver": "awslogs", "options": options}
    without = bench.run("echo out", logConfiguration=logging)

    bench.logs.create_log_group(logGroupName=group)
    with_group = bench.run("echo out", logConfiguration=logging)

    assert without["statusReason"] == "Task failed to start"
    assert without["container"]["reason"].endswith("The specified log group does not exist.")
    assert bench.lines(with_group, group) == ["out"]
    assert with_group["container"]["logStreamName"].startswith("bert/default/")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        pytest.param("no-such", "executable file not found in $PATH", id="name"),
        pytest.param("/no/such", "stat /no/such: no such file or directory", id="path"),
        pytest.param("/etc/passwd", "permission denied", id="no-program"),
    ],
)
def test_a_program_that_cannot_be_run_fails_the_task_by_its_name(
    bench: JobBench, program: str, why: str
) -> None:
    job = bench.run([program])

    assert job["statusReason"] == "Task failed to start"
    reason = job["container"]["reason"]
    assert reason.startswith("CannotStartContainerError: Error response from daemon: ")
    assert reason.endswith(f'unable to start container process: exec: "{program}": {why}: unknown')


def test_jobs_of_a_queue_that_is_deleted_end(bench: JobBench) -> None:
    job = bench.submit(bench.define(WAIT))
    bench.wait_for_line(job, "running")

    bench.batch.update_job_queue(jobQueue=bench.queue, state="DISABLED")
    bench.batch.delete_job_queue(jobQueue=bench.queue)

    assert bench.wait(job)["statusReason"] == "Job queue was deleted"


def test_the_environments_group_tells_of_launches_and_ends(bench: JobBench) -> None:
    autoscaling = bench.aws.client("autoscaling")
    job = bench.submit(bench.define(WAIT, nodes=2))
    bench.wait_for_line(f"{job}#1", "running")

    [during] = bench.groups()
    ids = {each["InstanceId"] for each in bench.instances("running")}
    bench.batch.terminate_job(jobId=job, reason="seen")
    bench.wait(job)

    assert during["AutoScalingGroupName"].startswith(f"{bench.name}-asg-")
    assert {each["InstanceId"] for each in during["Instances"]} == ids
    assert (during["DesiredCapacity"], during["VPCZoneIdentifier"]) == (2, bench.subnet)
    tags = {tag["Key"]: tag["Value"] for tag in during["Tags"]}
    assert tags == {"AWSBatchServiceTag": "batch", "team": "vision"}
    name = during["AutoScalingGroupName"]
    activities = autoscaling.describe_scaling_activities(AutoScalingGroupName=name)["Activities"]
    assert {each["StatusCode"] for each in activities} == {"Successful"}
    said = {each["Description"] for each in activities}
    assert said == {
        *(f"Launching a new EC2 instance: {each}" for each in ids),
        *(f"Terminating EC2 instance: {each}" for each in ids),
    }
    assert "changing the desired capacity from 0 to 2" in activities[-1]["Cause"]
    [after] = bench.groups()
    assert (after["Instances"], after["DesiredCapacity"]) == ([], 0)
    bench.batch.update_job_queue(jobQueue=bench.queue, state="DISABLED")
    bench.batch.delete_job_queue(jobQueue=bench.queue)
    bench.batch.update_compute_environment(computeEnvironment=bench.queue, state="DISABLED")
    bench.batch.delete_compute_environment(computeEnvironment=bench.queue)
    assert bench.groups() == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        pytest.param(
            "InsufficientInstanceCapacity",
            "We currently do not have sufficient trn1.32xlarge capacity in the Availability Zone "
            "you requested.",
            id="capacity",
        ),
        pytest.param(
            "VcpuLimitExceeded",
            "You have requested more vCPU capacity than your current vCPU limit of 0 allows for "
            "the instance bucket that the specified instance type belongs to.",
            id="quota",
        ),
    ],
)
def test_the_environments_group_tells_why_a_launch_failed(
    bench: JobBench, code: str, message: str
) -> None:
    fault = Fault(service="ec2", operation="RunInstances", code=code, message=message, count=1)
    bench.aws.fail(fault)
    job = bench.submit(bench.define("true", nodes=2))

    assert bench.wait(job)["status"] == "SUCCEEDED"

    [group] = bench.groups()
    activities = bench.aws.client("autoscaling").describe_scaling_activities(
        AutoScalingGroupName=group["AutoScalingGroupName"]
    )["Activities"]
    failed = activities[-1]
    assert failed["StatusCode"] == "Failed"
    assert failed["StatusMessage"] == f"{message} Launching EC2 instance failed."
    assert bench.subnet in failed["Details"]
    assert {each["StatusCode"] for each in activities[:-1]} == {"Successful"}


def test_only_batch_changes_the_environments_group(bench: JobBench) -> None:
    autoscaling = bench.aws.client("autoscaling")
    job = bench.submit(bench.define(WAIT))
    bench.wait_for_line(job, "running")
    [group] = bench.groups()
    name, [member] = group["AutoScalingGroupName"], group["Instances"]

    for change in (
        partial(autoscaling.set_desired_capacity, AutoScalingGroupName=name, DesiredCapacity=0),
        partial(
            autoscaling.terminate_instance_in_auto_scaling_group,
            InstanceId=member["InstanceId"],
            ShouldDecrementDesiredCapacity=False,
        ),
        partial(autoscaling.delete_auto_scaling_group, AutoScalingGroupName=name),
    ):
        with pytest.raises(ClientError, match="AWS Batch made the Auto Scaling group"):
            change()

    bench.batch.terminate_job(jobId=job, reason="seen")
    bench.wait(job)


def test_what_a_submission_changes_of_a_container_is_limited(bench: JobBench) -> None:
    definition = bench.define("true", nodes=2)
    long = [{"name": "LONG", "value": "x" * 8192}]
    of_nodes = [{"targetNodes": "0:", "containerOverrides": {"environment": long}}]

    job = bench.wait(bench.submit(definition, nodeOverrides={"nodePropertyOverrides": of_nodes}))

    assert job["status"] == "FAILED"
    said = "Container Overrides length must be at most 8192"
    assert job["attempts"][0]["statusReason"] == said


def test_a_submission_is_limited(bench: JobBench) -> None:
    with pytest.raises(ClientError, match="Job size must be less than 30 KiB, got 31 KiB"):
        bench.submit(bench.define("true"), parameters={"long": "x" * 31 * 1024})
