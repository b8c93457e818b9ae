"""A job and its nodes, in the words of AWS Batch whatever runs them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

# AWS Batch, JobStatus.
WAITING = ("SUBMITTED", "PENDING", "RUNNABLE")
STARTED = ("STARTING", "RUNNING")
OVER = ("SUCCEEDED", "FAILED")
# AWS Batch's statusReason, seen by its users; see trainshed.jobs.why.
TIMED_OUT = "Job attempt duration exceeded timeout"


class Scheduler(StrEnum):
    """What runs a job."""

    BATCH = "AWS Batch"
    RUN_COMMAND = "Systems Manager"


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
        past_logs: the output of each attempt that is over and whose container started.
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
    past_logs: tuple[LogStream, ...]
    attempts: tuple[Ending, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job.

    Attributes:
        scheduler: what runs it.
        job_id: its id.
        name: its name.
        status: for instance RUNNABLE.
        reason: AWS Batch's statusReason, if it says more than that the container ended.
        queue: ARN of its queue; empty without one.
        created_at: when it was submitted.
        started_at: when its main node began to run.
        stopped_at: when it ended.
        attempts: how each attempt that is over ended.
        most_attempts: how often it is tried.
        node_count: how many nodes it has.
        node_vcpus: vCPUs that each node asks for.
        image: container image of the main node; empty without one.
        log_group: of what its nodes print.
        depends_on: ids of jobs that have to succeed first.
        timeout_seconds: how long an attempt may take; None without a limit.
        was_stopped: somebody, or the queue, has asked for its end.
        nodes: by index.
    """

    scheduler: Scheduler
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
    def pulling(self) -> tuple[JobNode, ...]:
        """Nodes whose container is not up.

        AWS Batch user guide, "Job states": a job is STARTING until its image is pulled and its
        container runs.
        """
        batch = self.scheduler is Scheduler.BATCH
        return tuple(node for node in self.nodes if batch and node.status == "STARTING")

    @property
    def attempt(self) -> int:
        """Number of the current or last attempt."""
        # AWS Batch says that an attempt is over before it ends the job, or tries it again.
        ended = self.is_over or all(node.status in OVER for node in self.nodes)
        return max(1, len(self.attempts) + (0 if ended else 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJob:
    """A job among others.

    Attributes:
        job_id: its id.
        name: its name.
        status: for instance RUNNING.
        reason: as that of `Job`.
        nodes: how many it has.
        created_at: when it was submitted.
    """

    job_id: str
    name: str
    status: str
    reason: str | None
    nodes: int
    created_at: datetime


def ranges(indices: Iterable[int]) -> str:
    """Return indices of nodes in ascending order, for instance `0, 2-5`."""
    numbers = sorted(indices)
    gaps = [n for n in range(1, len(numbers)) if numbers[n] - numbers[n - 1] > 1]
    runs = [numbers[a:b] for a, b in pairwise([0, *gaps, len(numbers)])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
