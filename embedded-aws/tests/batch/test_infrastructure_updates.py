"""Compute environments whose nodes are exchanged while jobs run on them.

AWS Batch user guide, "Perform infrastructure updates".
"""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from job_bench import JobBench, job_aws

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings

WAIT = "echo running; exec sleep 100"
NO_CAPACITY = Fault(
    service="ec2", operation="RunInstances", code="InsufficientInstanceCapacity", count=None
)
OLD, NEW = "ami-00000000000000001", "ami-00000000000000002"


def _image(ami: str) -> dict[str, Any]:
    return {"ec2Configuration": [{"imageType": "ECS_AL2023", "imageIdOverride": ami}]}


def _environment(bench: JobBench) -> Any:
    [found] = bench.batch.describe_compute_environments(computeEnvironments=[bench.name])[
        "computeEnvironments"
    ]
    return found


def _update(bench: JobBench, **more: Any) -> None:
    bench.batch.update_compute_environment(
        computeEnvironment=bench.name, computeResources=_image(NEW), **more
    )


def _amis(bench: JobBench) -> list[str]:
    return sorted(each["ImageId"] for each in bench.instances("running"))


@pytest.fixture
def running(bench: JobBench) -> str:
    """A job that runs on a node with the old AMI."""
    assert bench.queue
    bench.batch.update_compute_environment(
        computeEnvironment=bench.name, computeResources=_image(OLD)
    )
    job = bench.submit(bench.define(WAIT))
    bench.wait_for_line(job, "running")
    return job


def test_without_jobs_it_is_valid_at_once(bench: JobBench) -> None:
    assert bench.queue

    _update(bench)

    assert _environment(bench)["status"] == "VALID"


def test_it_is_updating_until_the_jobs_have_ended_and_new_jobs_get_new_nodes(
    bench: JobBench, running: str
) -> None:
    _update(bench)

    assert _environment(bench)["status"] == "UPDATING"
    after = bench.submit(bench.define(WAIT))
    bench.wait_for_line(after, "running")
    assert _amis(bench) == [OLD, NEW]
    assert bench.describe(running)["status"] == "RUNNING"

    bench.batch.terminate_job(jobId=running, reason="seen")
    bench.wait(running)

    assert _environment(bench)["status"] == "VALID"
    assert bench.describe(after)["status"] == "RUNNING"
    bench.batch.terminate_job(jobId=after, reason="seen")


def test_a_scaling_update_exchanges_nothing(bench: JobBench, running: str) -> None:
    bench.batch.update_compute_environment(
        computeEnvironment=bench.name, computeResources={"maxvCpus": 1024}, state="DISABLED"
    )

    assert _environment(bench)["status"] == "VALID"
    bench.batch.terminate_job(jobId=running, reason="seen")


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param({"terminateJobsOnUpdate": True}, id="at-once"),
        pytest.param({"jobExecutionTimeoutMinutes": 1}, id="after-the-time-out"),
    ],
)
def test_jobs_end_as_the_policy_says_and_may_be_tried_again(
    bench: JobBench, policy: dict[str, Any]
) -> None:
    rules = [
        {"onStatusReason": "Host EC2*", "action": "RETRY"},
        {"onReason": "*", "action": "EXIT"},
    ]
    job = bench.submit(
        bench.define(f"[ $AWS_BATCH_JOB_ATTEMPT = 1 ] || exit 0; {WAIT}", nodes=2),
        retryStrategy={"attempts": 2, "evaluateOnExit": rules},
    )
    bench.wait_for_line(f"{job}#1", "running")

    _update(bench, updatePolicy=policy)

    ended = bench.wait(job)
    assert ended["status"] == "SUCCEEDED"
    first, _ = ended["attempts"]
    assert first["statusReason"].endswith("terminated.")
    assert _environment(bench)["status"] == "VALID"


def test_a_job_between_two_attempts_loses_the_nodes_that_it_kept(bench: JobBench) -> None:
    bench.batch.update_compute_environment(
        computeEnvironment=bench.queue, computeResources=_image(OLD)
    )
    job = bench.submit(bench.define(WAIT, nodes=2), retryStrategy={"attempts": 2})
    bench.wait_for_line(f"{job}#0", "running")
    bench.wait_for_line(f"{job}#1", "running")
    main = bench.describe(f"{job}#0")["container"]["containerInstanceArn"].rpartition("/")[2]

    bench.aws.fail(NO_CAPACITY)
    bench.ec2.terminate_instances(InstanceIds=[main])
    bench.wait(job, "RUNNABLE", reason="CAPACITY:")
    [kept] = bench.instances("running")
    assert kept["ImageId"] == OLD
    _update(bench)
    bench.aws.fail()
    bench.wait(job, "RUNNING")

    terminated = bench.ec2.get_waiter("instance_terminated")
    terminated.wait(InstanceIds=[kept["InstanceId"]], WaiterConfig={"Delay": 1})
    assert _amis(bench) == [NEW, NEW]
    bench.batch.terminate_job(jobId=job, reason="seen")


@pytest.mark.parametrize(
    ("operation", "more", "message"),
    [
        ("update_compute_environment", {"computeResources": {"maxvCpus": 2048}}, "Cannot update"),
        ("update_compute_environment", {"state": "DISABLED"}, "Cannot update"),
    ],
)
def test_it_cannot_be_changed_meanwhile(
    bench: JobBench, running: str, operation: str, more: dict[str, Any], message: str
) -> None:
    _update(bench)

    with pytest.raises(ClientError, match=f"{message}, resource is being modified"):
        getattr(bench.batch, operation)(computeEnvironment=bench.name, **more)

    bench.batch.terminate_job(jobId=running, reason="seen")
    bench.wait(running)
    getattr(bench.batch, operation)(computeEnvironment=bench.name, **more)


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """CloudFormation waits for two seconds, and the update policy of five days for two minutes."""
    settings = JobSettings(loopback=True, speed=3600)
    with job_aws(tmp_path_factory.mktemp("hurried"), settings) as aws:
        yield aws


class Stack:
    """A stack with a queue and its compute environment."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.bench = JobBench(aws)
        self.cloudformation = aws.client("cloudformation")

    def template(self, ami: str) -> str:
        bench = self.bench
        resources = {
            "Group": {
                "Type": "AWS::EC2::SecurityGroup",
                "Properties": {
                    "GroupDescription": "nodes",
                    "VpcId": bench.ec2.describe_subnets(SubnetIds=[bench.subnet])["Subnets"][0][
                        "VpcId"
                    ],
                },
            },
            "Environment": {
                "Type": "AWS::Batch::ComputeEnvironment",
                "Properties": {
                    "ComputeEnvironmentName": bench.name,
                    "Type": "MANAGED",
                    "ReplaceComputeEnvironment": False,
                    "UpdatePolicy": {"JobExecutionTimeoutMinutes": 7200},
                    "ComputeResources": {
                        "Type": "EC2",
                        "AllocationStrategy": "BEST_FIT_PROGRESSIVE",
                        "MinvCpus": 0,
                        "MaxvCpus": 1024,
                        "InstanceTypes": ["trn1.32xlarge"],
                        "Subnets": [bench.subnet],
                        "SecurityGroupIds": [{"Ref": "Group"}],
                        "InstanceRole": bench.node_role,
                        "Ec2Configuration": [{"ImageType": "ECS_AL2023", "ImageIdOverride": ami}],
                    },
                },
            },
            "Queue": {
                "Type": "AWS::Batch::JobQueue",
                "Properties": {
                    "JobQueueName": bench.name,
                    "Priority": 1,
                    "ComputeEnvironmentOrder": [
                        {"Order": 1, "ComputeEnvironment": {"Ref": "Environment"}}
                    ],
                },
            },
        }
        return json.dumps({"Resources": resources})

    def create(self) -> str:
        """Create it, and return a job that runs in it."""
        self.cloudformation.create_stack(
            StackName=self.bench.name,
            TemplateBody=self.template(OLD),
        )
        assert self.status() == "CREATE_COMPLETE"
        submitted = self.bench.batch.submit_job(
            jobName="run", jobQueue=self.bench.name, jobDefinition=self.bench.define(WAIT)
        )
        self.bench.wait_for_line(submitted["jobId"], "running")
        return str(submitted["jobId"])

    def update(self) -> None:
        self.cloudformation.update_stack(
            StackName=self.bench.name,
            TemplateBody=self.template(NEW),
        )

    def status(self) -> str:
        [found] = self.cloudformation.describe_stacks(StackName=self.bench.name)["Stacks"]
        return str(found["StackStatus"])

    def reasons(self) -> list[str]:
        events = self.cloudformation.describe_stack_events(StackName=self.bench.name)
        return [each.get("ResourceStatusReason", "") for each in events["StackEvents"]]


def test_cloudformation_waits_for_the_jobs(loopback_aws: EmbeddedAws) -> None:
    stack = Stack(loopback_aws)
    job = stack.create()
    update = threading.Thread(target=stack.update)

    update.start()
    while _environment(stack.bench)["status"] != "UPDATING":
        assert update.is_alive()
    assert stack.status() == "UPDATE_IN_PROGRESS"
    stack.bench.batch.terminate_job(jobId=job, reason="seen")
    update.join()

    assert stack.status() == "UPDATE_COMPLETE"


def test_cloudformation_gives_up_when_jobs_run_for_longer(hurried: EmbeddedAws) -> None:
    stack = Stack(hurried)
    job = stack.create()

    stack.update()

    assert stack.status() == "UPDATE_ROLLBACK_FAILED"
    assert any("Exceeded attempts to wait" in reason for reason in stack.reasons())
    assert stack.bench.describe(job)["status"] == "RUNNING"
    stack.bench.batch.terminate_job(jobId=job, reason="seen")
