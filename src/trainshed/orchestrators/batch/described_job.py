"""Read a job as AWS Batch describes it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from trainshed.jobs.model import EndCause, Ending, Job, JobNode, JobState, ListedJob, LogStream

# AWS Batch, JobStatus.
WAITING = ("SUBMITTED", "PENDING", "RUNNABLE")
STARTED = ("STARTING", "RUNNING")
OVER = ("SUCCEEDED", "FAILED")
_STATES = {"SUBMITTED": JobState.PENDING, "RUNNABLE": JobState.QUEUED}
# AWS Batch user guide, "Using the awslogs log driver": unless the definition names a group.
_LOG_GROUP = "/aws/batch/job"
# AWS Batch's statusReason of every container that ended by itself.
_EXITED = "Essential container in task exited"
# Beginnings of a statusReason: AWS Batch user guide, "Automated job retries"; of the others, what
# its users have seen.
_CAUSES = {
    "Host EC2": EndCause.HOST_ENDED,
    "Job attempt duration exceeded timeout": EndCause.TIMED_OUT,
    "Canceled by JobStateTimeLimit": EndCause.WAITED_TOO_LONG,
}


def read_job(described: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Job:
    """Read a job as DescribeJobs returns it.

    Args:
        described: the job.
        nodes: its nodes, in order; none for a job of one container, which is its own node.
    """
    container = _container(described)
    return Job(
        job_id=described["jobId"],
        name=described["jobName"],
        state=_state(described),
        status=described["status"],
        reason=_reason(described),
        cause=_cause(described),
        created_at=_time(described, "createdAt") or datetime.fromtimestamp(0, UTC),
        started_at=_time(described, "startedAt"),
        stopped_at=_time(described, "stoppedAt"),
        attempts=_attempts(described),
        most_attempts=described.get("retryStrategy", {}).get("attempts", 1),
        node_count=node_count(described),
        node_vcpus=_vcpus(container),
        image=container.get("image", ""),
        log_group=_log_group(container),
        depends_on=tuple(each["jobId"] for each in described.get("dependsOn", ())),
        timeout_seconds=described.get("timeout", {}).get("attemptDurationSeconds"),
        nodes=tuple(map(_node, nodes or (described,))),
        multi_node="nodeProperties" in described,
    )


def read_listed(summary: Mapping[str, Any]) -> ListedJob:
    """Read a job as ListJobs returns it."""
    return ListedJob(
        job_id=summary["jobId"],
        name=summary["jobName"],
        status=summary["status"],
        reason=_reason(summary),
        nodes=node_count(summary),
        created_at=datetime.fromtimestamp(summary["createdAt"] / 1000, UTC),
    )


def node_count(described: Mapping[str, Any]) -> int:
    """Return how many nodes a job has that DescribeJobs or ListJobs returned."""
    return int(described.get("nodeProperties", {}).get("numNodes", 1))


def _node(described: Mapping[str, Any]) -> JobNode:
    details = described.get("nodeDetails", {"nodeIndex": 0, "isMainNode": True})
    container = described.get("container", {})
    group = _log_group(container)
    past = (_log(each.get("container", {}), group) for each in described.get("attempts", ()))
    state = _state(described)
    return JobNode(
        index=details["nodeIndex"],
        is_main=details["isMainNode"],
        state=state,
        status=described["status"],
        # AWS Batch user guide, "Job states": a job is STARTING until its image is pulled and its
        # container runs.
        pulls_image=state is JobState.STARTING,
        address=next(
            (each["privateIpv4Address"] for each in container.get("networkInterfaces", ())), None
        ),
        started_at=_time(described, "startedAt"),
        stopped_at=_time(described, "stoppedAt"),
        ending=_ending(described) if state.is_over else None,
        log=_log(container, group),
        past_logs=tuple(filter(None, past)),
        attempts=_attempts(described),
        host=container.get("containerInstanceArn", ""),
    )


def _attempts(described: Mapping[str, Any]) -> tuple[Ending, ...]:
    return tuple(map(_ending, described.get("attempts", ())))


def _ending(described: Mapping[str, Any]) -> Ending:
    """Read the ending of an attempt, or of a job or a node."""
    container = described.get("container", {})
    return Ending(
        exit_code=container.get("exitCode"),
        reason=container.get("reason"),
        status_reason=_reason(described),
        cause=_cause(described),
    )


def _state(described: Mapping[str, Any]) -> JobState:
    status = described["status"]
    return _STATES.get(status) or JobState(status)


def _cause(described: Mapping[str, Any]) -> EndCause | None:
    reason = described.get("statusReason", "")
    for beginning, cause in _CAUSES.items():
        if reason.startswith(beginning):
            return cause
    stopped = described.get("isTerminated") or described.get("isCancelled")
    return EndCause.STOPPED if stopped else None


def _reason(described: Mapping[str, Any]) -> str | None:
    """Return the statusReason, if it says more than that a container ended by itself."""
    reason: str | None = described.get("statusReason")
    return None if reason == _EXITED else reason


def _log(container: Mapping[str, Any], group: str) -> LogStream | None:
    name = container.get("logStreamName")
    return LogStream(group=group, name=name) if name else None


def _log_group(container: Mapping[str, Any]) -> str:
    options = container.get("logConfiguration", {}).get("options", {})
    return str(options.get("awslogs-group", _LOG_GROUP))


def _container(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the container of a job, or that of its main node as it was defined."""
    groups = described.get("nodeProperties", {}).get("nodeRangeProperties", ())
    # Our job definitions have one group; of others all nodes are of the same instance type.
    found: Mapping[str, Any] = (groups[0] if groups else described).get("container", {})
    return found


def _vcpus(container: Mapping[str, Any]) -> int:
    for each in container.get("resourceRequirements", ()):
        if each["type"] == "VCPU":
            return int(float(each["value"]))
    return int(container.get("vcpus", 0))


def _time(described: Mapping[str, Any], key: str) -> datetime | None:
    milliseconds = described.get(key)
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None
