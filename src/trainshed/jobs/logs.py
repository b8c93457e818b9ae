"""Read what the nodes of a job print, from CloudWatch Logs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trainshed.aws import Region, accepting
from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.model import Job, JobNode, LogStream
from trainshed.jobs.watching import watch

# The log driver sends lines to CloudWatch Logs seconds after they were printed.
_LAST_LINES_SECONDS = 2
_SHOWN_LINES = 10


class LogReader:
    """Reads one log stream after the other, each line once.

    Args:
        region: where they are.
    """

    def __init__(self, region: Region) -> None:
        self._region = region
        self._stream: LogStream | None = None
        self._token: str | None = None
        self._begun: set[LogStream] = set()

    def read(self, *streams: LogStream | None) -> Iterator[str]:
        """Yield the lines that the latest stream has got since it was last read, then new streams.

        Args:
            streams: one for each attempt of a job, in order. None, and one that is not there yet,
                yields nothing.
        """
        yield from self._rest()
        for stream in streams:
            if stream and stream not in self._begun:
                self._begun.add(stream)
                self._stream, self._token = stream, None
                yield from self._rest()

    def _rest(self) -> Iterator[str]:
        """Yield the lines of the current stream that are not read yet."""
        with accepting("ResourceNotFoundException"):
            while stream := self._stream:
                token = {"nextToken": self._token} if self._token else {}
                answer = self._region.call(
                    "logs",
                    "get_log_events",
                    logGroupName=stream.group,
                    logStreamName=stream.name,
                    startFromHead=True,
                    **token,
                )
                for event in answer["events"]:
                    # A progress bar returns to the start of its line instead of ending it.
                    yield from event["message"].splitlines()
                # API reference: at the end of the stream the token that was passed comes back.
                # A page may be empty before that.
                before, self._token = self._token, answer["nextForwardToken"]
                if self._token == before:
                    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a node printed last.

    Attributes:
        node: its index.
        lines: the last ones, at least one.
        at: when the last one was printed.
    """

    node: int
    lines: tuple[str, ...]
    at: datetime


def last_printed(region: Region, node: JobNode) -> Printed | None:
    """Return what a node printed last; None when it has printed nothing.

    Args:
        region: where its log is.
        node: of a job; its latest attempt whose container started counts.
    """
    stream = node.log or (node.past_logs[-1] if node.past_logs else None)
    events: list[Mapping[str, Any]] = []
    with accepting("ResourceNotFoundException"):
        if stream:
            events = region.call(
                "logs",
                "get_log_events",
                logGroupName=stream.group,
                logStreamName=stream.name,
                startFromHead=False,
                limit=_SHOWN_LINES,
            )["events"]
    lines = [line for event in events for line in event["message"].splitlines() if line.strip()]
    if not lines:
        return None
    at = datetime.fromtimestamp(events[-1]["timestamp"] / 1000, UTC)
    return Printed(node=node.index, lines=tuple(lines[-_SHOWN_LINES:]), at=at)


def node_of(job: Job, index: int | None) -> JobNode:
    """Return a node of a job, by default its main node.

    Raises:
        TrainshedError: it has no such node.
    """
    if index is None:
        return job.main
    if not 0 <= index < len(job.nodes):
        raise TrainshedError(
            f"job {job.job_id} has the nodes 0 to {len(job.nodes) - 1}, not {index}"
        )
    return job.nodes[index]


def log_lines(region: Region, job: Job, index: int | None) -> Iterator[str]:
    """Yield what a node has printed in its latest attempt.

    Args:
        region: where the job is.
        job: the job.
        index: of the node; None for the main node.

    Raises:
        TrainshedError: there is no such node.
        Failure: it has printed nothing yet.
    """
    node = node_of(job, index)
    printed = False
    for line in LogReader(region).read(node.log):
        printed = True
        yield line
    if not printed:
        raise Failure(f"node {node.index} is {node.status} and has printed nothing")


def follow(
    region: Region, job: Job, index: int | None, pause: Callable[[float], None]
) -> Iterator[tuple[Job, list[str]]]:
    """Yield a job as it is now, with what a node has printed since, until the job is over.

    Args:
        region: where the job is.
        job: the job.
        index: of the node; None for the main node.
        pause: waits so many seconds.

    Raises:
        TrainshedError: there is no such node.
    """
    reader = LogReader(region)
    before = node_of(job, index).past_logs
    for now in watch(region, job, pause):
        if now.is_over and not job.is_over:
            pause(_LAST_LINES_SECONDS)
        node = node_of(now, index)
        # An attempt may begin and end between two looks.
        since = (each for each in node.past_logs if each not in before)
        yield now, list(reader.read(*since, node.log))
