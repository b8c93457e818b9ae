"""Jobs on plain EC2 nodes: commands of Systems Manager, one invocation for each node."""

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from trainshed.aws import Region, accepting
from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.model import (
    OVER,
    TIMED_OUT,
    Ending,
    Job,
    JobNode,
    ListedJob,
    LogStream,
    Scheduler,
)
from trainshed.jobs.nodes import Node, running_nodes
from trainshed.jobs.sent_files import VARIABLE
from trainshed.jobs.submission import Submission
from trainshed.tags import BOOT_TAG

# Systems Manager API reference, Command: CommandId; SendCommand: Comment.
_COMMAND_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONGEST_NAME = 100
# How long an agent that does not answer may take to begin; the least is 30.
_DELIVERY_SECONDS = 60
# The plugin aws:runShellScript: timeoutSeconds.
_LONGEST_SECONDS = 172800
# The step of the document, and a plugin's output.
_STREAM = "{}/{}/aws-runShellScript/stdout"
# Systems Manager user guide, "Understanding command statuses", in AWS Batch's words.
_STATUSES = {
    "Pending": "STARTING",
    "Delayed": "STARTING",
    "InProgress": "RUNNING",
    "Cancelling": "RUNNING",
    "Success": "SUCCEEDED",
}
_UNFINISHED = ("Pending", "InProgress", "Cancelling")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandDestination:
    """Where the jobs of a cluster of plain EC2 nodes go.

    Attributes:
        cluster: its name.
        group: name of the Auto Scaling group of its nodes.
        document: name of the document that runs a job.
        log_group: of the jobs' output.
    """

    cluster: str
    group: str
    document: str
    log_group: str

    def submit(self, region: Region, submission: Submission) -> str:
        """Start a job on nodes that run none; return its id.

        Raises:
            TrainshedError: Systems Manager would refuse it.
            Failure: there are not enough nodes.
        """
        if len(submission.name) > _LONGEST_NAME:
            raise TrainshedError(
                f"--name has {len(submission.name)} characters; Systems Manager takes "
                f"{_LONGEST_NAME}"
            )
        limit = submission.timeout_seconds
        if limit is not None and not 0 < limit <= _LONGEST_SECONDS:
            raise TrainshedError(
                f"a time-out of {limit} seconds is not possible; Systems Manager takes 1 to "
                f"{_LONGEST_SECONDS}"
            )
        nodes = self._free(region, submission.nodes)
        job = {
            # Tells the launches of one job from those of the next on the same nodes.
            "name": f"{submission.name}-{uuid4()}",
            "command": submission.command,
            "hosts": [node.address for node in nodes],
            "instances": [node.instance_id for node in nodes],
            "environment": {
                **submission.environment,
                **({VARIABLE: submission.files.archive} if submission.files else {}),
            },
        }
        parameters = {"Job": [base64.b64encode(json.dumps(job).encode()).decode()]}
        if limit is not None:
            parameters["TimeoutSeconds"] = [str(limit)]
        command = region.call(
            "ssm",
            "send_command",
            DocumentName=self.document,
            InstanceIds=job["instances"],
            Parameters=parameters,
            Comment=submission.name,
            TimeoutSeconds=_DELIVERY_SECONDS,
            CloudWatchOutputConfig={
                "CloudWatchOutputEnabled": True,
                "CloudWatchLogGroupName": self.log_group,
            },
        )
        return str(command["Command"]["CommandId"])

    def jobs(self, region: Region) -> list[ListedJob]:
        """Return its jobs, the newest first; Systems Manager forgets them after 30 days."""
        found = [
            _listed(region, each)
            for each in _commands(region, self.document)
            if _job(each) is not None
        ]
        return sorted(found, key=lambda job: job.created_at, reverse=True)

    def most_nodes(self, region: Region) -> int:
        """Return how many nodes its jobs may have."""
        [group] = region.call(
            "autoscaling", "describe_auto_scaling_groups", AutoScalingGroupNames=[self.group]
        )["AutoScalingGroups"]
        return int(group["DesiredCapacity"])

    def _free(self, region: Region, count: int) -> list[Node]:
        """Return nodes that run no job, the oldest first."""
        well = {BOOT_TAG: "ok", "aws:autoscaling:groupName": self.group}
        booted = running_nodes(region, self.cluster, well)
        online = {
            each["InstanceId"]
            for each in region.pages(
                "ssm", "describe_instance_information", "InstanceInformationList"
            )
            if each["PingStatus"] == "Online"
        }
        running = {
            node.address: job.job_id
            for job in _unfinished(region, self.document)
            for node in job.nodes
            if node.ending is None
        }
        free = [
            node for node in booted if node.instance_id in online and node.address not in running
        ]
        if len(free) >= count:
            return free[:count]
        jobs = sorted({running[node.address] for node in booted if node.address in running})
        offline = [node.instance_id for node in booted if node.instance_id not in online]
        raise Failure(
            f"{count} nodes are needed, and {len(free)} of {self.cluster} are free: "
            f"{len(booted)} have booted"
            + (f"; others run {', '.join(jobs)}: wait for that, or cancel it" if jobs else "")
            + (f"; Systems Manager does not reach {', '.join(offline)}" if offline else "")
            + f"; see the launches: aws autoscaling describe-scaling-activities "
            f"--auto-scaling-group-name {self.group}"
        )


def unfinished_jobs(region: Region, document: str) -> list[ListedJob]:
    """Return the jobs of a document that are not over."""
    jobs = _unfinished(region, document)
    return [_as_listed(job) for job in jobs if not job.is_over]


def describe(region: Region, job_id: str) -> Job | None:
    """Return a job by its id, with its nodes; None when there is none."""
    if not _COMMAND_ID.fullmatch(job_id):
        return None
    found: list[Mapping[str, Any]] = []
    with accepting("InvalidCommandId"):
        found = list(region.pages("ssm", "list_commands", "Commands", CommandId=job_id))
    return _described(region, found[0]) if found else None


def named(region: Region, name: str) -> Iterator[ListedJob]:
    """Yield the jobs of a name, in any cluster."""
    for each in region.pages("ssm", "list_commands", "Commands"):
        if each.get("Comment") == name and _job(each) is not None:
            yield _listed(region, each)


def end(region: Region, job: Job, reason: str) -> None:
    """End a job: its processes get SIGTERM, by trainshed-run-job.

    Args:
        region: where it is.
        job: the job.
        reason: nothing keeps it.
    """
    region.call("ssm", "cancel_command", CommandId=job.job_id)


def _commands(region: Region, document: str) -> Iterator[Mapping[str, Any]]:
    by_document = [{"key": "DocumentName", "value": document}]
    yield from region.pages("ssm", "list_commands", "Commands", Filters=by_document)


def _unfinished(region: Region, document: str) -> Iterator[Job]:
    """Yield the jobs with nodes that have not ended."""
    for command in _commands(region, document):
        if command["Status"] in _UNFINISHED and (job := _described(region, command)):
            yield job


def _described(region: Region, command: Mapping[str, Any]) -> Job | None:
    """Return the job that a command is, or None: anybody may send commands."""
    if _job(command) is None:
        return None
    listed = region.pages(
        "ssm",
        "list_command_invocations",
        "CommandInvocations",
        CommandId=command["CommandId"],
        Details=True,
    )
    invocations = {each["InstanceId"]: each for each in listed}
    return _read(command, invocations, _gone(region, command, invocations))


def _gone(
    region: Region, command: Mapping[str, Any], invocations: Mapping[str, Mapping[str, Any]]
) -> frozenset[str]:
    """Return the instances that have ended without their invocation, which then lasts for days."""
    unfinished = [
        each
        for each in command["InstanceIds"]
        if each not in invocations or _status(invocations[each]) not in OVER
    ]
    if not unfinished:
        return frozenset()
    # By a filter: EC2 refuses ids that it has forgotten.
    reservations = region.pages(
        "ec2",
        "describe_instances",
        "Reservations",
        Filters=[
            {"Name": "instance-id", "Values": unfinished},
            {"Name": "instance-state-name", "Values": ["pending", "running"]},
        ],
    )
    there = {each["InstanceId"] for group in reservations for each in group["Instances"]}
    return frozenset(unfinished) - there


def _job(command: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what was submitted; None when the command is no job."""
    try:
        [text] = command["Parameters"]["Job"]
        document = json.loads(base64.b64decode(text, validate=True))
        return document if document["hosts"] and document["instances"] else None
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None


def _listed(region: Region, command: Mapping[str, Any]) -> ListedJob:
    if command["Status"] in _UNFINISHED and (job := _described(region, command)):
        return _as_listed(job)
    return ListedJob(
        job_id=command["CommandId"],
        name=command.get("Comment", ""),
        status=_status(command),
        reason=_reason(command),
        nodes=len(command["InstanceIds"]),
        created_at=command["RequestedDateTime"],
    )


def _as_listed(job: Job) -> ListedJob:
    return ListedJob(
        job_id=job.job_id,
        name=job.name,
        status=job.status,
        reason=job.reason,
        nodes=job.node_count,
        created_at=job.created_at,
    )


def _read(
    command: Mapping[str, Any],
    invocations: Mapping[str, Mapping[str, Any]],
    gone: Collection[str],
) -> Job:
    """Read a job.

    Args:
        command: that it is.
        invocations: of the command, by the ids of the instances.
        gone: instances that have ended, and whose invocations have not.
    """
    job = _job(command)
    assert job is not None
    log_group = command.get("CloudWatchOutputConfig", {}).get("CloudWatchLogGroupName", "")
    nodes = tuple(
        _lost(index, address, instance)
        if instance in gone
        else _node(command["CommandId"], index, address, invocations.get(instance, {}), log_group)
        for index, (instance, address) in enumerate(
            zip(job["instances"], job["hosts"], strict=True)
        )
    )
    main = nodes[0]
    # As on AWS Batch: what the main node is, the job is.
    status = main.status if main.ending else _status(command)
    started = [node.started_at for node in nodes if node.started_at]
    stopped = [node.stopped_at for node in nodes if node.stopped_at]
    limit = command["Parameters"].get("TimeoutSeconds")
    lost = main.ending.status_reason if main.ending and job["instances"][0] in gone else None
    timed_out = any(node.ending and node.ending.status_reason == TIMED_OUT for node in nodes)
    return Job(
        scheduler=Scheduler.RUN_COMMAND,
        job_id=command["CommandId"],
        name=command.get("Comment", ""),
        status=status,
        reason=TIMED_OUT if timed_out else lost or _reason(command),
        queue="",
        created_at=command["RequestedDateTime"],
        started_at=min(started, default=None),
        stopped_at=max(stopped, default=None) if status in OVER else None,
        attempts=(main.ending,) if main.ending and status in OVER else (),
        most_attempts=1,
        node_count=len(nodes),
        node_vcpus=0,
        image="",
        log_group=log_group,
        depends_on=(),
        timeout_seconds=int(limit[0]) if limit else None,
        was_stopped=command["Status"] in ("Cancelling", "Cancelled"),
        nodes=nodes,
    )


def _lost(index: int, address: str, instance: str) -> JobNode:
    """Return a node whose instance has ended, in AWS Batch's words."""
    ending = Ending(
        exit_code=None, reason=None, status_reason=f"Host EC2 (instance {instance}) terminated."
    )
    return JobNode(
        index=index,
        is_main=index == 0,
        status="FAILED",
        address=address,
        started_at=None,
        stopped_at=None,
        ending=ending,
        log=None,
        past_logs=(),
        attempts=(ending,),
    )


def _node(
    command: str, index: int, address: str, invocation: Mapping[str, Any], log_group: str
) -> JobNode:
    status = _status(invocation) if invocation else "STARTING"
    [step] = invocation.get("CommandPlugins") or [{}]
    over = status in OVER
    ending = _ending(invocation, step) if over else None
    started: datetime | None = step.get("ResponseStartDateTime")
    return JobNode(
        index=index,
        is_main=index == 0,
        status=status,
        address=address,
        started_at=started,
        stopped_at=step.get("ResponseFinishDateTime") if over else None,
        ending=ending,
        log=LogStream(group=log_group, name=_STREAM.format(command, invocation["InstanceId"]))
        if started and log_group
        else None,
        past_logs=(),
        attempts=(ending,) if ending else (),
    )


def _ending(invocation: Mapping[str, Any], step: Mapping[str, Any]) -> Ending:
    # A step that never ran has the code -1.
    code = step.get("ResponseCode", -1)
    return Ending(
        exit_code=None if code < 0 else code, reason=None, status_reason=_reason(invocation)
    )


def _status(described: Mapping[str, Any]) -> str:
    return _STATUSES.get(described["Status"], "FAILED")


def _reason(described: Mapping[str, Any]) -> str | None:
    """Return StatusDetails, if it says more than the status and the exit code."""
    # The API reference writes "Execution Timed Out", the user guide ExecutionTimedOut.
    details: str = described.get("StatusDetails", "").replace(" ", "")
    if details == "ExecutionTimedOut":
        return TIMED_OUT
    return None if details in ("", "Success", "Failed", "Pending", "InProgress") else details
