"""What the containers of a job print, in CloudWatch Logs.

[S] Batch user guide, "Using the awslogs log driver": group /aws/batch/job unless the definition
names one; stream `PREFIX/default/TASKID`, where the prefix is the definition's name unless it gives
one. [S] The words for a group that does not exist are in issues of users of ECS
(cn-terraform/terraform-aws-ecs-fargate-task-definition 1). [M] Batch creates its own group. [S] An
event has a text of at least one character.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from moto.backends import get_backend

from embedded_aws.actions import Call
from embedded_aws.batch.task_refused import TaskRefused

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
        self._logs = get_backend("logs")[call.account][region]
        self._group = options.get("awslogs-group", _OWN_GROUP)
        if self._group == _OWN_GROUP or options.get("awslogs-create-group") == "true":
            self._logs.ensure_log_group(self._group)
        if self._group not in self._logs.groups:
            raise TaskRefused(
                "CannotStartContainerError: Error response from daemon: failed to initialize "
                "logging driver: failed to create Cloudwatch log stream: "
                "ResourceNotFoundException: The specified log group does not exist."
            )
        self.stream = f"{options.get('awslogs-stream-prefix', definition)}/default/{task}"
        self._logs.create_log_stream(self._group, self.stream)

    def write(self, lines: Sequence[str]) -> None:
        """Add lines; without a stream, or after the group was deleted, they are lost."""
        if self.stream is None or self._group not in self._logs.groups:
            return
        now = int(time.time() * 1000)
        events = [{"timestamp": now, "message": line} for line in lines if line]
        if events:
            self._logs.put_log_events(self._group, self.stream, events)
