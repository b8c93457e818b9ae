"""A queue on an embedded AWS whose jobs run, and what became of them."""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from networks import add_nat
from server_logs import no_traceback

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.faults import Fault
from embedded_aws.job_settings import JobSettings
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

NODES_POLICY = "arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role"
OVER = ("SUCCEEDED", "FAILED")
# Of an instance of the default type.
VCPUS = 128
_TOO_LONG = 60
_pause = threading.Event()


@contextmanager
def job_aws(folder: Path, settings: JobSettings, **others: Any) -> Iterator[EmbeddedAws]:
    """Give an embedded AWS with these settings of jobs, and others of the server's."""
    server = start(ServerSettings(jobs=settings, **others), log=folder / "server.log")
    try:
        yield EmbeddedAws(server)
        no_traceback(server.log.read_text())
    finally:
        server.stop()


class JobBench:
    """A queue and its compute environment, for one test.

    Args:
        aws: where.
        instance_type: of the nodes.
        ami: id of the nodes' AMI; by default the one that the embedded AWS takes.
        spot: the nodes are on Spot.
        other_types: that the environment has beside `instance_type`.
        strategy: of several types; by default the one that AWS recommends.
        minimum: instances that are kept without a job.
        maximum: instances.
        delay_minutes: how long an instance is kept after its job.
    """

    def __init__(
        self,
        aws: EmbeddedAws,
        *,
        instance_type: str = "trn1.32xlarge",
        ami: str | None = None,
        spot: bool = False,
        other_types: Sequence[str] = (),
        strategy: str | None = None,
        minimum: int = 0,
        maximum: int = 64,
        delay_minutes: int = 0,
    ) -> None:
        self.aws = aws
        self._scaling = {
            "minvCpus": minimum * VCPUS,
            "maxvCpus": maximum * VCPUS,
            **(
                {"scalingPolicy": {"minScaleDownDelayMinutes": delay_minutes}}
                if delay_minutes
                else {}
            ),
        }
        self._instance_types, self._ami, self._spot = [instance_type, *other_types], ami, spot
        self._strategy = strategy or (
            "SPOT_PRICE_CAPACITY_OPTIMIZED" if spot else "BEST_FIT_PROGRESSIVE"
        )
        self.batch, self.ec2, self.logs = (aws.client(each) for each in ("batch", "ec2", "logs"))
        self.name = f"t{uuid4().hex[:12]}"

    @cached_property
    def subnet(self) -> str:
        vpc = self.ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
        subnet = self.ec2.create_subnet(
            VpcId=vpc, CidrBlock="10.20.0.0/20", AvailabilityZoneId="usw2-az4"
        )
        subnet_id = str(subnet["Subnet"]["SubnetId"])
        add_nat(self.ec2, subnet_id)
        return subnet_id

    @cached_property
    def queue(self) -> str:
        """A queue that is ready for jobs, by default of up to 64 nodes."""
        [subnet] = self.ec2.describe_subnets(SubnetIds=[self.subnet])["Subnets"]
        group = self.ec2.create_security_group(
            GroupName=self.name, Description="nodes", VpcId=subnet["VpcId"]
        )
        self.batch.create_compute_environment(
            computeEnvironmentName=self.name,
            type="MANAGED",
            computeResources={
                "type": "SPOT" if self._spot else "EC2",
                "allocationStrategy": self._strategy,
                **self._scaling,
                "instanceTypes": self._instance_types,
                "subnets": [self.subnet],
                "securityGroupIds": [group["GroupId"]],
                "instanceRole": self.node_role,
                "tags": {"team": "vision"},
                **({"imageId": self._ami} if self._ami else {}),
            },
        )
        self.batch.create_job_queue(
            jobQueueName=self.name,
            priority=1,
            computeEnvironmentOrder=[{"order": 1, "computeEnvironment": self.name}],
            jobStateTimeLimitActions=[
                {
                    "reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
                    "state": "RUNNABLE",
                    "maxTimeSeconds": 600,
                    "action": "CANCEL",
                }
            ],
        )
        return self.name

    @cached_property
    def node_role(self) -> str:
        """The role of the nodes, as the ECS developer guide has it, in a profile of its name."""
        iam, name = self.aws.client("iam"), f"{self.name}-nodes"
        trust = {"Effect": "Allow", "Action": "sts:AssumeRole"}
        iam.create_role(
            RoleName=name,
            AssumeRolePolicyDocument=json.dumps(
                {"Statement": [{**trust, "Principal": {"Service": "ec2.amazonaws.com"}}]}
            ),
        )
        iam.attach_role_policy(RoleName=name, PolicyArn=NODES_POLICY)
        iam.create_instance_profile(InstanceProfileName=name)
        iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
        return name

    def define(
        self, script: str | Sequence[str], *, nodes: int = 0, name: str = "", **container: Any
    ) -> str:
        """Register a job definition.

        Args:
            script: for `sh -c`, or a command.
            nodes: of a multi-node job; 0 for a container job.
            name: of the definition, by default that of the bench.
            container: more containerProperties.

        Returns:
            Its name and revision.
        """
        properties = {
            "image": "train:1",
            "command": ["sh", "-c", script] if isinstance(script, str) else list(script),
            "resourceRequirements": [
                {"type": "VCPU", "value": "96"},
                {"type": "MEMORY", "value": "500000"},
            ],
            **container,
        }
        kind: dict[str, Any] = {"type": "container", "containerProperties": properties}
        if nodes:
            group = {"targetNodes": "0:", "container": properties}
            kind = {
                "type": "multinode",
                "nodeProperties": {
                    "numNodes": nodes,
                    "mainNode": 0,
                    "nodeRangeProperties": [group],
                },
            }
        made = self.batch.register_job_definition(jobDefinitionName=name or self.name, **kind)
        return f"{made['jobDefinitionName']}:{made['revision']}"

    def submit(self, definition: str, **more: Any) -> str:
        """Submit a job; return its id."""
        submitted = self.batch.submit_job(
            jobName="run", jobQueue=self.queue, jobDefinition=definition, **more
        )
        return str(submitted["jobId"])

    def run(self, script: str | Sequence[str], *, nodes: int = 0, **container: Any) -> Any:
        """Run a job to its end; return it as DescribeJobs does."""
        return self.wait(self.submit(self.define(script, nodes=nodes, **container)))

    def describe(self, job: str) -> Any:
        """Return a job, or a node of one."""
        [found] = self.batch.describe_jobs(jobs=[job])["jobs"]
        return found

    def wait(self, job: str, *states: str, reason: str = "") -> Any:
        """Return a job when it is in one of some states, by default when it is over.

        Args:
            job: its id.
            states: to wait for.
            reason: beginning of the statusReason to wait for.
        """
        deadline = time.monotonic() + _TOO_LONG
        while time.monotonic() < deadline:
            found = self.describe(job)
            if found["status"] in (states or OVER):
                if found.get("statusReason", "").startswith(reason):
                    return found
            elif found["status"] in OVER:
                break
            _pause.wait(0.05)
        raise AssertionError(f"the job is {found['status']}: {found.get('statusReason')}")

    def lines(self, job: Mapping[str, Any], group: str = "/aws/batch/job") -> list[str]:
        """Return what a container printed, without the line of the embedded AWS."""
        stream = job["container"]["logStreamName"]
        events = self.logs.get_log_events(
            logGroupName=group, logStreamName=stream, startFromHead=True
        )["events"]
        first, *rest = [event["message"] for event in events]
        assert first.startswith("embedded AWS: ")
        return rest

    def wait_for_line(self, job: str, line: str) -> None:
        """Wait until a running job or node has printed a line."""
        deadline = time.monotonic() + _TOO_LONG
        while time.monotonic() < deadline:
            found = self.describe(job)
            if "logStreamName" in found.get("container", {}) and line in self.lines(found):
                return
            _pause.wait(0.05)
        raise AssertionError(f"{job} has not printed {line!r}")

    def groups(self) -> list[Any]:
        """Return the Auto Scaling groups of the queue's compute environment."""
        pages = self.aws.client("autoscaling").get_paginator("describe_auto_scaling_groups")
        return [
            each
            for each in pages.paginate().search("AutoScalingGroups[]")
            if each["AutoScalingGroupName"].startswith(self.name)
        ]

    def leave_room(self, instances: int) -> None:
        """Let EC2 have room for some instances, and for no more, until faults change."""
        self.aws.fail(
            Fault(
                service="ec2",
                operation="RunInstances",
                code="InsufficientInstanceCapacity",
                count=None,
                after=instances,
            )
        )

    def failed_launches(self) -> list[Any]:
        """Return the launches for the queue that failed."""
        [group] = self.groups()
        found = self.aws.client("autoscaling").describe_scaling_activities(
            AutoScalingGroupName=group["AutoScalingGroupName"]
        )["Activities"]
        return [each for each in found if each["StatusCode"] == "Failed"]

    def instances(self, *states: str) -> list[Any]:
        """Return the instances of the queue's subnet that are in some states."""
        found = self.ec2.describe_instances(
            Filters=[
                {"Name": "subnet-id", "Values": [self.subnet]},
                {"Name": "instance-state-name", "Values": list(states)},
            ]
        )
        return [each for group in found["Reservations"] for each in group["Instances"]]
