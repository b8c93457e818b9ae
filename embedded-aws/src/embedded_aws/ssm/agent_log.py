"""What an instance's agent writes to CloudWatch Logs, with the credentials of the instance's role.

amazon-ssm-agent, iohandler and runpluginutil: log group `/aws/ssm/DOCUMENT` unless the command
names one, which the agent makes when there is none; streams `COMMAND/INSTANCE/STEP/stdout` and
`stderr`, where `:` and `*` of the step's name become `-`; what the role may not do is not done, and
the command goes on.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

import boto3
from botocore.exceptions import ClientError

# Before the credentials expire.
_RENEWED_SECONDS = 3600


class AgentLog:
    """The log stream of one output of a step.

    Args:
        credentials: returns credentials of the instance's role, as an endpoint gives them; None
            for an instance that has ended.
        endpoint: URL of the embedded AWS.
        region: for instance `us-west-2`.
        group: the log group.
        stream: the log stream.
    """

    def __init__(
        self,
        credentials: Callable[[], dict[str, str] | None],
        *,
        endpoint: str,
        region: str,
        group: str,
        stream: str,
    ) -> None:
        self._credentials = credentials
        self._endpoint, self._region = endpoint, region
        self._group, self._stream = group, stream
        self._client: Any = None
        self._renew_at = 0.0
        self._works: bool | None = None

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Put events, or lose them."""
        if self._works is False or not events:
            return
        logs = self._logs()
        if logs is None:
            return
        try:
            if self._works is None:
                self._create(logs)
                self._works = True
            logs.put_log_events(
                logGroupName=self._group, logStreamName=self._stream, logEvents=events
            )
        except ClientError:
            self._works = False

    def _create(self, logs: Any) -> None:
        try:
            logs.create_log_stream(logGroupName=self._group, logStreamName=self._stream)
        except logs.exceptions.ResourceNotFoundException:
            # The log of the step's other output may make it at the same time.
            with suppress(logs.exceptions.ResourceAlreadyExistsException):
                logs.create_log_group(logGroupName=self._group)
            logs.create_log_stream(logGroupName=self._group, logStreamName=self._stream)

    def _logs(self) -> Any:
        if monotonic() >= self._renew_at:
            self._renew_at = monotonic() + _RENEWED_SECONDS
            answer = self._credentials()
            if answer is None:
                return None
            self._client = boto3.session.Session(
                aws_access_key_id=answer["AccessKeyId"],
                aws_secret_access_key=answer["SecretAccessKey"],
                aws_session_token=answer["Token"],
                region_name=self._region,
            ).client("logs", endpoint_url=self._endpoint)
        return self._client
