"""Its jobs: commands of AWS-RunShellScript, called by cluster and name."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from trainshed.aws import Region
from trainshed.jobs.cloudwatch import CloudWatchLogs
from trainshed.jobs.model import Ending, Job, JobNode, JobState, ListedJob, LogStream
from trainshed.jobs.nodes import running_nodes
from trainshed.jobs.scheduler import Scheduler
from trainshed.jobs.submission import Submission
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.questions import Questions

_DOCUMENT = "AWS-RunShellScript"
_STREAM = "{}/{}/aws-runShellScript/stdout"
_STATES = {
    "Pending": JobState.STARTING,
    "InProgress": JobState.RUNNING,
    "Success": JobState.SUCCEEDED,
}
OUTPUTS = frozenset({"JobEnvironment", "LogGroup"})


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> Scheduler:
    """Return what runs the jobs of a cluster."""
    return ShellScheduler(
        region=region,
        cluster=cluster,
        outputs=outputs,
        log_group=outputs["LogGroup"],
        environment=json.loads(outputs["JobEnvironment"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellScheduler:
    """Sends scripts to the oldest nodes."""

    service: ClassVar[str] = "Systems Manager"

    region: Region
    cluster: str
    outputs: Mapping[str, str]
    log_group: str
    environment: Mapping[str, str]

    @property
    def logs(self) -> CloudWatchLogs:
        """Reads what they print."""
        return CloudWatchLogs(region=self.region)

    def submit(self, submission: Submission) -> str:
        """Send the command to as many nodes as it asks for."""
        variables = {**self.environment, **submission.environment}
        exports = [f"export {name}={shlex.quote(text)}" for name, text in variables.items()]
        free = [each for each in running_nodes(self.region, self.cluster) if not each.drained]
        nodes = free[: submission.nodes]
        sent = self.region.call(
            "ssm",
            "send_command",
            DocumentName=_DOCUMENT,
            InstanceIds=[node.instance_id for node in nodes],
            Parameters={"commands": [*exports, shlex.join(submission.command)]},
            Comment=f"{self.cluster}/{submission.name}",
            CloudWatchOutputConfig={
                "CloudWatchOutputEnabled": True,
                "CloudWatchLogGroupName": self.log_group,
            },
        )
        return str(sent["Command"]["CommandId"])

    def jobs(self, *, unfinished: bool = False) -> list[ListedJob]:
        """Return its jobs."""
        found = sorted(self._commands(), key=lambda job: job.created_at, reverse=True)
        return [
            ListedJob(
                job_id=job.job_id,
                name=job.name,
                status=job.status,
                reason=job.reason,
                nodes=job.node_count,
                created_at=job.created_at,
            )
            for job in found
            if not (unfinished and job.state.is_over)
        ]

    def job(self, name: str) -> Job | None:
        """Return a job by its id or its name."""
        named = [job for job in self._commands() if name in (job.job_id, job.name)]
        return max(named, key=lambda job: job.created_at, default=None)

    def end(self, job: Job, reason: str) -> None:
        """Cancel the command."""
        self.region.call("ssm", "cancel_command", CommandId=job.job_id)

    def tidy(self) -> None:
        """Do nothing: nothing is left."""

    def most_nodes(self) -> int:
        """Return how many nodes run."""
        return len(running_nodes(self.region, self.cluster))

    def evidence(self, job: Job, now: datetime, questions: Questions) -> Evidence:
        """Ask nothing more."""
        return Evidence(service=self.service, region=self.region.name, job=job, now=now)

    def _commands(self) -> Iterator[Job]:
        ours = [{"key": "DocumentName", "value": _DOCUMENT}]
        for command in self.region.pages("ssm", "list_commands", "Commands", Filters=ours):
            cluster, _, name = command.get("Comment", "").partition("/")
            if cluster == self.cluster:
                yield self._job(command, name)

    def _job(self, command: Mapping[str, Any], name: str) -> Job:
        job_id = command["CommandId"]
        found = self.region.pages(
            "ssm",
            "list_command_invocations",
            "CommandInvocations",
            CommandId=job_id,
            Details=True,
        )
        nodes = tuple(self._node(job_id, *each) for each in enumerate(found))
        state = _STATES.get(command["Status"], JobState.FAILED)
        return Job(
            job_id=job_id,
            name=name,
            state=state,
            status=state.value,
            reason=None,
            cause=None,
            created_at=command["RequestedDateTime"],
            started_at=min((node.started_at for node in nodes if node.started_at), default=None),
            stopped_at=max((node.stopped_at for node in nodes if node.stopped_at), default=None),
            attempts=(),
            most_attempts=1,
            node_count=len(command["InstanceIds"]),
            node_vcpus=0,
            image="",
            log_group=self.log_group,
            depends_on=(),
            timeout_seconds=None,
            nodes=nodes,
        )

    def _node(self, job_id: str, index: int, invocation: Mapping[str, Any]) -> JobNode:
        [step] = invocation["CommandPlugins"] or [{}]
        state = _STATES.get(invocation["Status"], JobState.FAILED)
        ending = Ending(
            exit_code=step.get("ResponseCode"), reason=None, status_reason=None, cause=None
        )
        return JobNode(
            index=index,
            is_main=index == 0,
            state=state,
            status=state.value,
            pulls_image=False,
            address=None,
            started_at=step.get("ResponseStartDateTime"),
            stopped_at=step.get("ResponseFinishDateTime"),
            ending=ending if state.is_over else None,
            log=LogStream(
                group=self.log_group, name=_STREAM.format(job_id, invocation["InstanceId"])
            ),
            past_logs=(),
            attempts=(),
            host=invocation["InstanceId"],
        )
