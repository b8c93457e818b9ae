"""The credentials of jobs' roles, as their containers ask for them.

[S] ECS developer guide, "Task IAM role": a container asks an endpoint, whose answer has these
members, and the session is called by the task's id; the role must let ecs-tasks.amazonaws.com in.
[M] ECS's words when it does not; six hours.
"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from moto.backends import get_backend

from embedded_aws.actions import Call
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.iam.roles import can_assume

CREDENTIALS_PATH = "/_embedded-aws/job-credentials/"
_LIFE = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class _Task:
    call: Call
    role: str
    token: str


class JobCredentials:
    """The tasks that may ask for credentials."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Task] = {}

    def grant(self, call: Call, task: str, role: str, endpoint: str) -> dict[str, str]:
        """Let a task ask; return the variables that its container needs for that.

        Raises:
            TaskRefused: there is no such role, or it does not let ECS's tasks in.
        """
        if not can_assume(call, "ecs-tasks.amazonaws.com", role):
            raise TaskRefused(
                f"ECS was unable to assume the role '{role}' that was provided for this task. "
                "Please verify that the role being passed has the proper trust relationship and "
                "permissions and that your IAM user has permissions to pass this role."
            )
        token = secrets.token_urlsafe(24)
        self._tasks[task] = _Task(call, role, token)
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{endpoint}{CREDENTIALS_PATH}{task}",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": token,
        }

    def revoke(self, task: str) -> None:
        """Answer a task no more."""
        self._tasks.pop(task, None)

    def answer(self, task: str, token: str) -> dict[str, str] | None:
        """Return credentials of a task's role, or None when the task or its token is unknown."""
        found = self._tasks.get(task)
        if found is None or not secrets.compare_digest(found.token.encode(), token.encode()):
            return None
        sts = get_backend("sts")[found.call.account][found.call.response.partition]
        assumed = sts.assume_role(
            region_name=found.call.region,
            role_session_name=task,
            role_arn=found.role,
            policy="",
            duration=int(_LIFE.total_seconds()),
            external_id="",
        )
        return {
            "RoleArn": found.role,
            "AccessKeyId": assumed.access_key_id,
            "SecretAccessKey": assumed.secret_access_key,
            "Token": assumed.session_token,
            "Expiration": (datetime.now(UTC) + _LIFE).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
