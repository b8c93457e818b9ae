"""A node of a job in one attempt: its variables, and what DescribeJobs says of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.moto_api._internal import mock_random

from embedded_aws.actions import Row
from embedded_aws.batch import job_environment
from embedded_aws.batch.job import Job
from embedded_aws.batch.job_containers import Container
from embedded_aws.batch.job_logs import JobLog
from embedded_aws.batch.job_rows import now
from embedded_aws.batch.node_instances import Need
from embedded_aws.hosts.process import HostProcess


@dataclass(slots=True, kw_only=True)
class Node:
    """A node in an attempt.

    Attributes:
        job: of which it is a node.
        need: the instances of the attempt.
        index: of the node.
        instance: moto's, its host.
        address: by which the others reach it.
        task: id of its ECS task.
        program: of its command, once that is known.
        process: that runs its command, once it was started.
        log: of its command.
        started_at: when the command began, in milliseconds.
        over: it has ended, or never will be started.
        exit_code: of its container, if it ran to its end.
        reason: of the container.
        status_reason: of the node's attempt.
    """

    job: Job
    need: Need
    index: int
    instance: Any
    address: str
    task: str = field(default_factory=lambda: mock_random.get_random_hex(32))
    program: str = ""
    process: HostProcess | None = None
    log: JobLog | None = None
    started_at: int | None = None
    over: bool = False
    exit_code: int | None = None
    reason: str | None = None
    status_reason: str | None = None

    @property
    def row(self) -> Row:
        """The node's row, or that of a job without nodes."""
        return self.job.nodes[self.index]

    @property
    def container(self) -> Container:
        """The properties of its container."""
        container = self.job.containers[self.index]
        assert container is not None
        return container

    @property
    def is_main(self) -> bool:
        """It is the main node."""
        return self.index == self.job.main

    def environment(
        self,
        image: Mapping[str, str],
        host: Mapping[str, str],
        *,
        main: str,
        number: int,
        queue: str,
    ) -> dict[str, str]:
        """Return its variables; those of AWS Batch come last, as nothing changes them.

        Args:
            image: variables of its image.
            host: variables of its host.
            main: address of the main node.
            number: of the attempt.
            queue: name of the job queue.

        Raises:
            TaskRefused: a secret is not there.
        """
        call, container = self.job.call, self.container
        name = self.need.environment["computeEnvironmentName"]
        own = {entry["name"]: entry.get("value", "") for entry in container["environment"]}
        variables = {
            **job_environment.machine_variables(image, host),
            **own,
            **job_environment.secret_variables(call, container),
            **job_environment.batch_variables(
                self.row,
                environment=name,
                queue=queue,
                attempt=number,
                size=self.job.array_size,
            ),
        }
        if self.job.is_multinode:
            variables |= job_environment.node_variables(
                self.index, self.job.main, len(self.job.nodes), main
            )
        return variables

    def describe(self) -> dict[str, Any]:
        """Return its container as DescribeJobs has it.

        Batch user guide, "Networking modes for AWS Batch jobs": a container of a multi-node job has
        an interface of its own, that of another job uses its host's.
        """
        cluster = self.need.environment["ecsClusterArn"].rpartition("/")[2]
        described = {
            **self.container,
            "taskArn": self.job.call.arn("ecs", f"task/{cluster}/{self.task}"),
            "containerInstanceArn": self.job.call.arn(
                "ecs", f"container-instance/{cluster}/{self.instance.id}"
            ),
            "networkInterfaces": [{"privateIpv4Address": self.address}]
            if self.job.is_multinode
            else None,
            "exitCode": self.exit_code,
            "reason": self.reason,
            "logStreamName": self.log.stream if self.log else None,
        }
        return {name: value for name, value in described.items() if value is not None}

    def describe_attempt(self) -> dict[str, Any]:
        """Return its attempt, which has just ended, as DescribeJobs has it."""
        members = ("containerInstanceArn", "taskArn", "exitCode", "reason", "logStreamName")
        container = {
            name: self.row["container"][name]
            for name in (*members, "networkInterfaces")
            if name in self.row["container"]
        }
        attempt = {
            "container": container,
            "startedAt": self.started_at,
            "stoppedAt": now(),
            "statusReason": self.status_reason,
        }
        return {name: value for name, value in attempt.items() if value is not None}
