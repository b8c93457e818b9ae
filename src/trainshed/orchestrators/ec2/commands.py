"""Read jobs from commands of Systems Manager: one invocation is one node."""

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from tarfile import TarError
from typing import Any

from trainshed.aws import Region, accepting
from trainshed.errors import TrainshedError
from trainshed.jobs.model import EndCause, Ending, Job, JobNode, JobState, ListedJob, LogStream
from trainshed.jobs.sent_files import VARIABLE, packed
from trainshed.jobs.submission import Submission

# Systems Manager API reference, Command: CommandId.
_COMMAND_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The step of the document, and a plugin's output.
_STREAM = "{}/{}/runShellScript/stdout"
# Systems Manager user guide, "Understanding command statuses": Status; all others are failures.
_STATES = {
    "Pending": JobState.STARTING,
    "Delayed": JobState.STARTING,
    "InProgress": JobState.RUNNING,
    "Cancelling": JobState.RUNNING,
    "Success": JobState.SUCCEEDED,
}
_UNFINISHED = ("Pending", "InProgress", "Cancelling")
# The same, StatusDetails.
_CAUSES = {
    "Cancelled": EndCause.STOPPED,
    "DeliveryTimedOut": EndCause.NOT_DELIVERED,
    "ExecutionTimedOut": EndCause.TIMED_OUT,
    "InvalidPlatform": EndCause.NOT_DELIVERED,
    "Undeliverable": EndCause.NOT_DELIVERED,
}


def listed_jobs(region: Region, document: str) -> Iterator[ListedJob]:
    """Yield the jobs that a document has started."""
    for command in _commands(region, document):
        if _submitted(command):
            yield _listed(region, command)


def unfinished_jobs(region: Region, document: str) -> Iterator[Job]:
    """Yield the jobs with nodes that have not ended."""
    for command in _commands(region, document):
        if command["Status"] in _UNFINISHED and (job := _described(region, command)):
            yield job


def job_by_id(region: Region, document: str, job_id: str) -> Job | None:
    """Return a job that a document has started; None when it has started none with this id."""
    if not _COMMAND_ID.fullmatch(job_id):
        return None
    found: list[Mapping[str, Any]] = []
    with accepting("InvalidCommandId"):
        found = list(region.pages("ssm", "list_commands", "Commands", CommandId=job_id))
    ours = [each for each in found if each["DocumentName"] == document]
    return _described(region, ours[0]) if ours else None


def newest_job(region: Region, document: str, name: str) -> Job | None:
    """Return the newest job of a name that a document has started; None when there is none."""
    named = [
        each
        for each in _commands(region, document)
        if each.get("Comment") == name and _submitted(each)
    ]
    newest = max(named, key=lambda each: each["RequestedDateTime"], default=None)
    return _described(region, newest) if newest else None


def as_listed(job: Job) -> ListedJob:
    """Return a job as one among others."""
    return ListedJob(
        job_id=job.job_id,
        name=job.name,
        status=job.status,
        reason=job.reason,
        nodes=job.node_count,
        created_at=job.created_at,
    )


def _commands(region: Region, document: str) -> Iterator[Mapping[str, Any]]:
    by_document = [{"key": "DocumentName", "value": document}]
    yield from region.pages("ssm", "list_commands", "Commands", Filters=by_document)


def _described(region: Region, command: Mapping[str, Any]) -> Job | None:
    """Return the job that a command is, or None: anybody may send commands."""
    submitted = _submitted(command)
    if submitted is None:
        return None
    listed = region.pages(
        "ssm",
        "list_command_invocations",
        "CommandInvocations",
        CommandId=command["CommandId"],
        Details=True,
    )
    invocations = {each["InstanceId"]: each for each in listed}
    return _read(command, submitted, invocations, _gone(region, command, invocations))


def _gone(
    region: Region, command: Mapping[str, Any], invocations: Mapping[str, Mapping[str, Any]]
) -> frozenset[str]:
    """Return the instances that have ended without their invocation, which then lasts for days."""
    unfinished = [
        each
        for each in command["InstanceIds"]
        if each not in invocations or not _state(invocations[each]).is_over
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


def _submitted(command: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what was submitted; None when the command is no job."""
    try:
        [text] = command["Parameters"]["Job"]
        document = json.loads(base64.b64decode(text, validate=True))
        return document if document["hosts"] and document["instances"] else None
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None


def _listed(region: Region, command: Mapping[str, Any]) -> ListedJob:
    if command["Status"] in _UNFINISHED and (job := _described(region, command)):
        return as_listed(job)
    return ListedJob(
        job_id=command["CommandId"],
        name=command.get("Comment", ""),
        status=_state(command),
        reason=_reason(command),
        nodes=len(command["InstanceIds"]),
        created_at=command["RequestedDateTime"],
    )


def _read(
    command: Mapping[str, Any],
    submitted: Mapping[str, Any],
    invocations: Mapping[str, Mapping[str, Any]],
    gone: Collection[str],
) -> Job:
    """Read a job.

    Args:
        command: that it is.
        submitted: what was submitted.
        invocations: of the command, by the ids of the instances.
        gone: instances that have ended, and whose invocations have not.
    """
    log_group = command.get("CloudWatchOutputConfig", {}).get("CloudWatchLogGroupName", "")
    nodes = tuple(
        _lost(index, address, instance)
        if instance in gone
        else replace(
            _node(command["CommandId"], index, address, invocations.get(instance, {}), log_group),
            host=instance,
        )
        for index, (instance, address) in enumerate(
            zip(submitted["instances"], submitted["hosts"], strict=True)
        )
    )
    main = nodes[0]
    # What the main node is, the job is: Systems Manager waits for the others.
    state = main.state if main.ending else _state(command)
    cause, reason = _why(command, nodes)
    started = [node.started_at for node in nodes if node.started_at]
    stopped = [node.stopped_at for node in nodes if node.stopped_at]
    return Job(
        job_id=command["CommandId"],
        name=command.get("Comment", ""),
        state=state,
        status=state,
        reason=reason,
        cause=cause,
        created_at=command["RequestedDateTime"],
        started_at=min(started, default=None),
        stopped_at=max(stopped, default=None) if state.is_over else None,
        attempts=(main.ending,) if main.ending else (),
        most_attempts=1,
        node_count=len(nodes),
        node_vcpus=0,
        image="",
        log_group=log_group,
        depends_on=(),
        timeout_seconds=_timeout(command),
        nodes=nodes,
        submission=_submission(command, submitted),
    )


def _submission(command: Mapping[str, Any], submitted: Mapping[str, Any]) -> Submission | None:
    """Return what submits a job again; None when somebody has sent it in another way than we do."""
    environment = dict(submitted.get("environment", {}))
    archive = environment.pop(VARIABLE, "")
    try:
        return Submission(
            name=command.get("Comment", ""),
            command=tuple(submitted.get("command", ())),
            nodes=len(submitted["hosts"]),
            environment=environment,
            files=packed(archive) if archive else None,
            timeout_seconds=_timeout(command),
        )
    except (TrainshedError, ValueError, OSError, EOFError, TarError):
        return None


def _timeout(command: Mapping[str, Any]) -> int | None:
    limit = command["Parameters"].get("TimeoutSeconds")
    return int(limit[0]) if limit else None


def _why(
    command: Mapping[str, Any], nodes: Sequence[JobNode]
) -> tuple[EndCause | None, str | None]:
    """Return what ends a job, or has ended it, and the words for it."""
    endings = [node.ending for node in nodes if node.ending]
    for ending in endings:
        if ending.cause is EndCause.TIMED_OUT:
            return ending.cause, ending.status_reason
    main = nodes[0].ending
    lost = main.status_reason if main and main.cause is EndCause.HOST_ENDED else None
    if command["Status"] in ("Cancelling", "Cancelled"):
        return EndCause.STOPPED, lost or _reason(command)
    return (EndCause.HOST_ENDED, lost) if lost else (_cause(command), _reason(command))


def _lost(index: int, address: str, instance: str) -> JobNode:
    """Return a node whose instance has ended."""
    ending = Ending(
        exit_code=None,
        reason=None,
        status_reason=f"the instance {instance} has ended",
        cause=EndCause.HOST_ENDED,
    )
    return JobNode(
        index=index,
        is_main=index == 0,
        state=JobState.FAILED,
        status=JobState.FAILED,
        pulls_image=False,
        address=address,
        started_at=None,
        stopped_at=None,
        ending=ending,
        log=None,
        past_logs=(),
        attempts=(ending,),
        host=instance,
    )


def _node(
    command: str, index: int, address: str, invocation: Mapping[str, Any], log_group: str
) -> JobNode:
    state = _state(invocation) if invocation else JobState.STARTING
    [step] = invocation.get("CommandPlugins") or [{}]
    ending = _ending(invocation, step) if state.is_over else None
    started: datetime | None = step.get("ResponseStartDateTime")
    return JobNode(
        index=index,
        is_main=index == 0,
        state=state,
        status=state,
        pulls_image=False,
        address=address,
        started_at=started,
        stopped_at=step.get("ResponseFinishDateTime") if state.is_over else None,
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
        exit_code=None if code < 0 else code,
        reason=None,
        status_reason=_reason(invocation),
        cause=_cause(invocation),
    )


def _state(described: Mapping[str, Any]) -> JobState:
    return _STATES.get(described["Status"], JobState.FAILED)


def _cause(described: Mapping[str, Any]) -> EndCause | None:
    return _CAUSES.get(_details(described))


def _reason(described: Mapping[str, Any]) -> str | None:
    """Return StatusDetails, if it says more than the status and the exit code."""
    details = _details(described)
    return None if details in ("", "Success", "Failed", "Pending", "InProgress") else details


def _details(described: Mapping[str, Any]) -> str:
    # The API reference writes "Execution Timed Out", the user guide ExecutionTimedOut.
    details: str = described.get("StatusDetails", "")
    return details.replace(" ", "")
