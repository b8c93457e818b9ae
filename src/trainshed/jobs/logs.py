"""Read what the nodes of a job print."""

from collections.abc import Callable, Iterator

from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.model import Job, JobNode, LogStream
from trainshed.jobs.scheduler import Logs, Scheduler
from trainshed.jobs.watching import watch

# Lines come to the log seconds after they were printed.
_LAST_LINES_SECONDS = 2


class LogReader:
    """Reads one log stream after the other, each line once.

    Args:
        logs: has them.
    """

    def __init__(self, logs: Logs) -> None:
        self._logs = logs
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
        while stream := self._stream:
            page = self._logs.page(stream, self._token)
            yield from page.lines
            before, self._token = self._token, page.next_token
            if self._token == before:
                return


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


def log_lines(scheduler: Scheduler, job: Job, index: int | None) -> Iterator[str]:
    """Yield what a node has printed in its latest attempt.

    Args:
        scheduler: what runs the job.
        job: the job.
        index: of the node; None for the main node.

    Raises:
        TrainshedError: there is no such node.
        Failure: it has printed nothing yet.
    """
    node = node_of(job, index)
    printed = False
    for line in LogReader(scheduler.logs).read(node.log):
        printed = True
        yield line
    if not printed:
        raise Failure(f"node {node.index} is {node.status} and has printed nothing")


def follow(
    scheduler: Scheduler, job: Job, index: int | None, pause: Callable[[float], None]
) -> Iterator[tuple[Job, list[str]]]:
    """Yield a job as it is now, with what a node has printed since, until the job is over.

    Args:
        scheduler: what runs the job.
        job: the job.
        index: of the node; None for the main node.
        pause: waits so many seconds.

    Raises:
        TrainshedError: there is no such node.
    """
    reader = LogReader(scheduler.logs)
    before = node_of(job, index).past_logs
    for now in watch(scheduler, job, pause):
        if now.state.is_over and not job.state.is_over:
            pause(_LAST_LINES_SECONDS)
        node = node_of(now, index)
        # An attempt may begin and end between two looks.
        since = (each for each in node.past_logs if each not in before)
        yield now, list(reader.read(*since, node.log))
