"""What the containers of a job print, in CloudWatch Logs.

Batch user guide, "Using the awslogs log driver": group /aws/batch/job unless the definition names
one; stream `PREFIX/default/TASKID`, where the prefix is the definition's name unless it gives one.
The words for a group that does not exist are in issues of users of ECS
(cn-terraform/terraform-aws-ecs-fargate-task-definition 1). From memory: Batch creates its own
group.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from moto.backends import get_backend

from embedded_aws.actions import Call
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.hosts.log_stream import LogStream

_OWN_GROUP = "/aws/batch/job"


class JobLog:
    """The log stream of a container.

    Attributes:
        stream: its name; None when the container does not log to CloudWatch Logs.

    Args:
        call: of the job's account and region.
        container: its properties.
        definition: name of the job definition.
        task: id of the ECS task.

    Raises:
        TaskRefused: there is no such log group.
    """

    def __init__(
        self, call: Call, container: Mapping[str, Any], definition: str, task: str
    ) -> None:
        self.stream: str | None = None
        configuration = container.get("logConfiguration", {})
        if configuration.get("logDriver", "awslogs") != "awslogs":
            return
        options = configuration.get("options", {})
        region = options.get("awslogs-region", call.region)
        logs = get_backend("logs")[call.account][region]
        group = options.get("awslogs-group", _OWN_GROUP)
        if group == _OWN_GROUP or options.get("awslogs-create-group") == "true":
            logs.ensure_log_group(group)
        if group not in logs.groups:
            raise TaskRefused(
                "CannotStartContainerError: Error response from daemon: failed to initialize "
                "logging driver: failed to create Cloudwatch log stream: "
                "ResourceNotFoundException: The specified log group does not exist."
            )
        self.stream = f"{options.get('awslogs-stream-prefix', definition)}/default/{task}"
        self._log = LogStream(logs, group, self.stream)

    def write(self, lines: Sequence[str]) -> None:
        """Add lines; without a stream they are lost."""
        if self.stream is not None:
            self._log.write(lines)
