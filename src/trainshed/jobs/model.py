"""A job and its nodes, as AWS Batch tells of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

# AWS Batch, JobStatus.
WAITING = ("SUBMITTED", "PENDING", "RUNNABLE")
STARTED = ("STARTING", "RUNNING")
OVER = ("SUCCEEDED", "FAILED")

# AWS Batch user guide, "Using the awslogs log driver": unless the definition names a group.
_LOG_GROUP = "/aws/batch/job"
# AWS Batch's statusReason of every container that ended by itself.
_EXITED = "Essential container in task exited"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStream:
    """Where a container's output is in CloudWatch Logs.

    Attributes:
        group: the log group.
        name: the stream.
    """

    group: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an attempt of a node ended.

    Attributes:
        exit_code: of the container; None when it never ran, or its host ended.
        reason: why the container did not run or ended, in ECS's words.
        status_reason: the same of the attempt, in AWS Batch's words; None when it ended by itself.
    """

    exit_code: int | None
    reason: str | None
    status_reason: str | None

    def __str__(self) -> str:
        """Return what is known, in a line."""
        code = None if self.exit_code is None else f"exit code {self.exit_code}"
        said = dict.fromkeys(filter(None, (code, self.reason, self.status_reason)))
        return ": ".join(said) or "no reason given"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNode:
    """One node of a job; if nothing else is said, in its latest attempt.

    Attributes:
        index: from 0.
        is_main: the job ends when this node ends.
        status: for instance RUNNING.
        address: private IPv4 address of its container; None while it has none.
        started_at: when its container began to run.
        stopped_at: when it ended.
        ending: how it ended; None while it has not.
        log: its output; None before its container starts.
        attempts: how each attempt that is over ended.
    """

    index: int
    is_main: bool
    status: str
    address: str | None
    started_at: datetime | None
    stopped_at: datetime | None
    ending: Ending | None
    log: LogStream | None
    attempts: tuple[Ending, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job.

    Attributes:
        job_id: its id.
        name: its name.
        status: for instance RUNNABLE.
        reason: AWS Batch's statusReason, if it says more than that the container ended.
        queue: ARN of its queue.
        created_at: when it was submitted.
        started_at: when its main node began to run.
        stopped_at: when it ended.
        attempts: how each attempt that is over ended.
        most_attempts: how often it is tried.
        node_count: how many nodes it has.
        node_vcpus: vCPUs that each node asks for.
        image: container image of the main node.
        log_group: of what its nodes print.
        depends_on: ids of jobs that have to succeed first.
        timeout_seconds: how long an attempt may take; None without a limit.
        was_stopped: somebody, or the queue, has asked for its end.
        nodes: by index.
    """

    job_id: str
    name: str
    status: str
    reason: str | None
    queue: str
    created_at: datetime
    started_at: datetime | None
    stopped_at: datetime | None
    attempts: tuple[Ending, ...]
    most_attempts: int
    node_count: int
    node_vcpus: int
    image: str
    log_group: str
    depends_on: tuple[str, ...]
    timeout_seconds: int | None
    was_stopped: bool
    nodes: tuple[JobNode, ...]

    @property
    def is_over(self) -> bool:
        """It has succeeded or failed for good."""
        return self.status in OVER

    @property
    def main(self) -> JobNode:
        """The main node."""
        return next(node for node in self.nodes if node.is_main)

    @property
    def attempt(self) -> int:
        """Number of the current or last attempt."""
        return max(1, len(self.attempts) + (0 if self.is_over else 1))


def ranges(indices: Iterable[int]) -> str:
    """Return indices of nodes in ascending order, for instance `0, 2-5`."""
    numbers = sorted(indices)
    gaps = [n for n in range(1, len(numbers)) if numbers[n] - numbers[n - 1] > 1]
    runs = [numbers[a:b] for a, b in pairwise([0, *gaps, len(numbers)])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


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
        log=_log(container),
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


def _log(container: Mapping[str, Any]) -> LogStream | None:
    if not (name := container.get("logStreamName")):
        return None
    return LogStream(group=_log_group(container), name=name)


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
