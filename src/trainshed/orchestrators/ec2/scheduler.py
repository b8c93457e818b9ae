"""Jobs on plain EC2 nodes: commands of Systems Manager."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar
from uuid import uuid4

from trainshed.account.tags import BOOT_TAG
from trainshed.aws import Region
from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.cloudwatch import CloudWatchLogs
from trainshed.jobs.model import Job, ListedJob
from trainshed.jobs.nodes import Node, running_nodes
from trainshed.jobs.scheduler import Scheduler
from trainshed.jobs.sent_files import VARIABLE
from trainshed.jobs.submission import Submission
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.questions import Questions
from trainshed.orchestrators.ec2 import commands
from trainshed.orchestrators.ec2.agents import answering

# Systems Manager API reference, SendCommand: Comment.
_LONGEST_NAME = 100
# How long an agent that does not answer may take to begin; the least is 30.
_DELIVERY_SECONDS = 60
# The plugin aws:runShellScript: timeoutSeconds.
_LONGEST_SECONDS = 172800
# Of a cluster's stack; without one of these, it is not that of a cluster.
OUTPUTS = frozenset({"JobDocument", "LogGroup", "NodeGroup"})


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> Scheduler:
    """Return what runs the jobs of a cluster.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
    """
    return Ec2Scheduler(
        region=region,
        cluster=cluster,
        outputs=outputs,
        group=outputs["NodeGroup"],
        document=outputs["JobDocument"],
        log_group=outputs["LogGroup"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ec2Scheduler:
    """Starts the jobs of a cluster on nodes that are there all the time.

    Attributes:
        service: name of the AWS service, for messages.
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
        group: name of the Auto Scaling group of its nodes.
        document: name of the document that runs a job.
        log_group: of the jobs' output.
    """

    service: ClassVar[str] = "Systems Manager"

    region: Region
    cluster: str
    outputs: Mapping[str, str]
    group: str
    document: str
    log_group: str

    @property
    def logs(self) -> CloudWatchLogs:
        """Reads what they print."""
        return CloudWatchLogs(region=self.region)

    def submit(self, submission: Submission) -> str:
        """Start a job on nodes that run none; return its id.

        Raises:
            TrainshedError: Systems Manager would refuse it.
            Failure: there are not enough nodes.
        """
        _check(submission)
        nodes = self._free(submission.nodes)
        instances = [node.instance_id for node in nodes]
        job = {
            # Tells the launches of one job from those of the next on the same nodes.
            "name": f"{submission.name}-{uuid4()}",
            "command": submission.command,
            "hosts": [node.address for node in nodes],
            "instances": instances,
            "environment": {
                **submission.environment,
                **({VARIABLE: submission.files.archive} if submission.files else {}),
            },
        }
        parameters = {"Job": [base64.b64encode(json.dumps(job).encode()).decode()]}
        if submission.timeout_seconds is not None:
            parameters["TimeoutSeconds"] = [str(submission.timeout_seconds)]
        command = self.region.call(
            "ssm",
            "send_command",
            DocumentName=self.document,
            InstanceIds=instances,
            Parameters=parameters,
            Comment=submission.name,
            TimeoutSeconds=_DELIVERY_SECONDS,
            CloudWatchOutputConfig={
                "CloudWatchOutputEnabled": True,
                "CloudWatchLogGroupName": self.log_group,
            },
        )
        return str(command["Command"]["CommandId"])

    def jobs(self, *, unfinished: bool = False) -> list[ListedJob]:
        """Return its jobs, the newest first; Systems Manager forgets them after 30 days.

        Args:
            unfinished: only those that are not over.
        """
        if unfinished:
            jobs = commands.unfinished_jobs(self.region, self.document)
            found = [commands.as_listed(job) for job in jobs if not job.state.is_over]
        else:
            found = list(commands.listed_jobs(self.region, self.document))
        return sorted(found, key=lambda job: job.created_at, reverse=True)

    def job(self, name: str) -> Job | None:
        """Return a job by its id, or the newest of a name; None when there is none."""
        return commands.job_by_id(self.region, self.document, name) or commands.newest_job(
            self.region, self.document, name
        )

    def end(self, job: Job, reason: str) -> None:
        """End a job: its processes get SIGTERM, by trainshed-run-job. Nothing keeps the reason."""
        self.region.call("ssm", "cancel_command", CommandId=job.job_id)

    def tidy(self) -> None:
        """Do nothing: submissions leave nothing on AWS but commands, which it forgets."""

    def most_nodes(self) -> int:
        """Return how many nodes its jobs may have."""
        [group] = self.region.call(
            "autoscaling", "describe_auto_scaling_groups", AutoScalingGroupNames=[self.group]
        )["AutoScalingGroups"]
        return int(group["DesiredCapacity"])

    def evidence(self, job: Job, now: datetime, questions: Questions) -> Evidence:
        """Ask nothing more: a job says itself how each node ended, and waits for nothing."""
        return Evidence(service=self.service, region=self.region.name, job=job, now=now)

    def _free(self, count: int) -> list[Node]:
        """Return nodes that run no job, the oldest first."""
        well = {BOOT_TAG: "ok", "aws:autoscaling:groupName": self.group}
        booted = running_nodes(self.region, self.cluster, well)
        online = answering(self.region)
        running = {
            node.address: job.job_id
            for job in commands.unfinished_jobs(self.region, self.document)
            for node in job.nodes
            if node.ending is None
        }
        taken = self._taken_back() if any(node.on_spot for node in booted) else frozenset()
        free = [
            node
            for node in booted
            if node.instance_id in online - taken
            if not node.drained and node.address not in running
        ]
        if len(free) >= count:
            return free[:count]
        jobs = sorted({running[node.address] for node in booted if node.address in running})
        offline = [node.instance_id for node in booted if node.instance_id not in online]
        leaving = [node.instance_id for node in booted if node.instance_id in taken]
        drained = [node.instance_id for node in booted if node.drained]
        raise Failure(
            f"{count} nodes are needed, and {len(free)} of {self.cluster} are free: "
            f"{len(booted)} have booted"
            + (
                f"; others run {', '.join(jobs)}: wait for these jobs, or cancel them"
                if jobs
                else ""
            )
            + (f"; EC2 takes {', '.join(leaving)} back" if leaving else "")
            + (
                f"; {', '.join(drained)} is drained: trainshed node undrain {self.cluster} NODE"
                if drained
                else ""
            )
            + (f"; Systems Manager does not reach {', '.join(offline)}" if offline else "")
            + f"; see the launches: aws autoscaling describe-scaling-activities "
            f"--auto-scaling-group-name {self.group}"
        )

    def _taken_back(self) -> frozenset[str]:
        """Return the instances that end within minutes, by EC2's notice.

        EC2 user guide, "Spot request status codes": `marked-for-termination`.
        """
        marked = {"Name": "status-code", "Values": ["marked-for-termination"]}
        requests = self.region.pages(
            "ec2", "describe_spot_instance_requests", "SpotInstanceRequests", Filters=[marked]
        )
        return frozenset(each["InstanceId"] for each in requests)


def _check(submission: Submission) -> None:
    """Refuse what Systems Manager would refuse."""
    if len(submission.name) > _LONGEST_NAME:
        raise TrainshedError(
            f"--name has {len(submission.name)} characters; Systems Manager takes {_LONGEST_NAME}"
        )
    limit = submission.timeout_seconds
    if limit is not None and not 0 < limit <= _LONGEST_SECONDS:
        raise TrainshedError(
            f"a time-out of {limit} seconds is not possible; Systems Manager takes 1 to "
            f"{_LONGEST_SECONDS}"
        )
