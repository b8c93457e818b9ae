"""A job and its nodes, whatever runs them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from trainshed.jobs.submission import Submission
from trainshed.nodes.exit_codes import PEER_LOST


class JobState(StrEnum):
    """How far a job or one of its nodes has come.

    PENDING was just submitted, or waits for other jobs to succeed; QUEUED waits for nodes; STARTING
    has them, and its command does not run yet.
    """

    PENDING = "PENDING"
    QUEUED = "QUEUED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def waits(self) -> bool:
        """It has no nodes yet."""
        return self in (JobState.PENDING, JobState.QUEUED)

    @property
    def is_over(self) -> bool:
        """It has succeeded or failed for good."""
        return self in (JobState.SUCCEEDED, JobState.FAILED)


class EndCause(StrEnum):
    """What ends a job or one of its nodes, when that is not its own command."""

    HOST_ENDED = "its host ended"
    NOT_DELIVERED = "the node did not get the command"
    STOPPED = "somebody asked for its end"
    TIMED_OUT = "it took longer than its time-out"
    WAITED_TOO_LONG = "it waited longer than its queue allows"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogStream:
    """Where a container's output is.

    Attributes:
        group: the log group of CloudWatch Logs, or the namespace of Kubernetes.
        name: the stream, or the pod.
    """

    group: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """A part of what a node has printed.

    Attributes:
        lines: its lines.
        at: when the last one was printed; None when there is none.
        next_token: names the page that comes after it; at the end of the log the one that named
            this page.
    """

    lines: tuple[str, ...]
    at: datetime | None
    next_token: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an attempt of a node ended.

    Attributes:
        exit_code: of the container or command; None when it never ran, or its host ended.
        reason: why the container did not run or ended; None when there is no container.
        status_reason: why the attempt ended, in the words of the service that runs it; None when
            it ended by itself.
        cause: what ended it; None when that was its own command.
    """

    exit_code: int | None
    reason: str | None
    status_reason: str | None
    cause: EndCause | None

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
        state: how far it has come.
        status: the same in the words of the service that runs it, for instance RUNNABLE.
        pulls_image: its container waits for its image.
        address: private IPv4 address of its container; None while it has none.
        started_at: when its container began to run.
        stopped_at: when it ended.
        ending: how it ended; None while it has not.
        log: its output; None before its container starts.
        past_logs: the output of each attempt that is over and whose container started.
        attempts: how each attempt that is over ended.
        host: what it is on, as the service that runs it calls it; empty while it is on nothing.
    """

    index: int
    is_main: bool
    state: JobState
    status: str
    pulls_image: bool
    address: str | None
    started_at: datetime | None
    stopped_at: datetime | None
    ending: Ending | None
    log: LogStream | None
    past_logs: tuple[LogStream, ...]
    attempts: tuple[Ending, ...]
    host: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job.

    Attributes:
        job_id: its id.
        name: its name.
        state: how far it has come.
        status: the same in the words of the service that runs it, for instance RUNNABLE.
        reason: why it is in that state, in the service's words, if that says more than that its
            command ended.
        cause: what has ended it, or is about to; None when that is its own command.
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
        nodes: by index.
        submission: that submits it again as it was; None where AWS itself tries jobs again.
        multi_node: it is a multi-node parallel job of AWS Batch, which may have one node.
    """

    job_id: str
    name: str
    state: JobState
    status: str
    reason: str | None
    cause: EndCause | None
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
    nodes: tuple[JobNode, ...]
    submission: Submission | None = None
    multi_node: bool = False

    @property
    def main(self) -> JobNode:
        """The main node."""
        return next(node for node in self.nodes if node.is_main)

    @property
    def has_lost_a_node(self) -> bool:
        """Whether its last attempt ended because a node was lost or taken back."""
        ending = self.main.ending
        return ending is not None and (
            ending.exit_code == PEER_LOST or ending.cause is EndCause.HOST_ENDED
        )

    @property
    def attempt(self) -> int:
        """Number of the current or last attempt."""
        # AWS Batch says that an attempt is over before it ends the job, or tries it again.
        ended = self.state.is_over or all(node.state.is_over for node in self.nodes)
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
