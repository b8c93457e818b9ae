"""Read a job as AWS Batch describes it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from trainshed.jobs.model import OVER, Ending, Job, JobNode, LogStream, Scheduler

# AWS Batch user guide, "Using the awslogs log driver": unless the definition names a group.
_LOG_GROUP = "/aws/batch/job"
# AWS Batch's statusReason of every container that ended by itself.
_EXITED = "Essential container in task exited"


def reason_of(described: Mapping[str, Any]) -> str | None:
    """Return a statusReason, if it says more than that a container ended by itself."""
    reason: str | None = described.get("statusReason")
    return None if reason == _EXITED else reason


def read_job(described: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Job:
    """Read a job as DescribeJobs returns it.

    Args:
        described: the job.
        nodes: its nodes, in order; none for a job of one container, which is its own node.
    """
    container = _container(described)
    return Job(
        scheduler=Scheduler.BATCH,
        job_id=described["jobId"],
        name=described["jobName"],
        status=described["status"],
        reason=reason_of(described),
        queue=described["jobQueue"],
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
        was_stopped=described.get("isTerminated", False) or described.get("isCancelled", False),
        nodes=tuple(map(_node, nodes or (described,))),
    )


def node_count(described: Mapping[str, Any]) -> int:
    """Return how many nodes a job has that DescribeJobs or ListJobs returned."""
    return int(described.get("nodeProperties", {}).get("numNodes", 1))


def _node(described: Mapping[str, Any]) -> JobNode:
    details = described.get("nodeDetails", {"nodeIndex": 0, "isMainNode": True})
    container = described.get("container", {})
    group = _log_group(container)
    past = (_log(each.get("container", {}), group) for each in described.get("attempts", ()))
    over = described["status"] in OVER
    return JobNode(
        index=details["nodeIndex"],
        is_main=details["isMainNode"],
        status=described["status"],
        address=next(
            (each["privateIpv4Address"] for each in container.get("networkInterfaces", ())), None
        ),
        started_at=_time(described, "startedAt"),
        stopped_at=_time(described, "stoppedAt"),
        ending=_ending(described) if over else None,
        log=_log(container, group),
        past_logs=tuple(filter(None, past)),
        attempts=_attempts(described),
    )


def _attempts(described: Mapping[str, Any]) -> tuple[Ending, ...]:
    return tuple(map(_ending, described.get("attempts", ())))


def _ending(described: Mapping[str, Any]) -> Ending:
    """Read the ending of an attempt, or of a job or a node."""
    container = described.get("container", {})
    return Ending(
        exit_code=container.get("exitCode"),
        reason=container.get("reason"),
        status_reason=reason_of(described),
    )


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
