"""A job as it changes: a live table on a terminal, a line for each change elsewhere."""

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from trainshed.cli.output import rich_line, say
from trainshed.jobs.model import Job, JobNode, JobState, ranges

Show = Callable[[Job, Sequence[str]], None]

_TAIL_LINES = 10
# Of a terminal's height, those that are not for nodes: heading, borders, progress, a rest.
_OTHER_LINES = _TAIL_LINES + 7
_FEWEST_ROWS = 3


@contextmanager
def display() -> Iterator[Show]:
    """Give a function that shows a job as it is now, with the lines that its main node added."""
    if not sys.stdout.isatty():
        yield _Lines().show
        return
    from rich.console import Console
    from rich.live import Live

    console = Console()
    with Live(console=console, auto_refresh=False) as live:
        yield _Table(live, console).show


def duration(seconds: float) -> str:
    """Return a time such as 0:01:30."""
    return str(timedelta(seconds=int(seconds)))


class _Lines:
    """Prints what changed since the last look."""

    def __init__(self) -> None:
        self._job: str | None = None
        self._nodes: dict[int, str] = {}

    def show(self, job: Job, lines: Sequence[str]) -> None:
        """Print what changed; the last lines of a job come before its end."""
        if job.state.is_over:
            self._print_log(job, lines)
        if (state := job_text(job)) != self._job:
            self._job = state
            self._print(job, f"job {state}")
        changed: dict[str, list[int]] = {}
        for node in job.nodes:
            reason = _reason(node)
            text = f"{node.status}: {reason}" if reason else node.status
            if text != self._nodes.get(node.index):
                self._nodes[node.index] = text
                changed.setdefault(text, []).append(node.index)
        for text, indices in changed.items():
            self._print(job, f"node {ranges(indices)} {text}")
        if not job.state.is_over:
            self._print_log(job, lines)

    def _print_log(self, job: Job, lines: Sequence[str]) -> None:
        for line in lines:
            say(f"node {job.main.index}: {line}")

    def _print(self, job: Job, text: str) -> None:
        now = job.stopped_at or datetime.now(UTC)
        say(f"{duration((now - job.created_at).total_seconds())} {text}")


class _Table:
    """Draws the nodes again at each look, above a progress line and the end of the log."""

    def __init__(self, live: Any, console: Any) -> None:
        self._live, self._console = live, console
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._since: dict[int, tuple[str, datetime]] = {}

    def show(self, job: Job, lines: Sequence[str]) -> None:
        """Draw it."""
        from rich.console import Group

        self._tail.extend(lines)
        form = {"no_wrap": True, "overflow": "ellipsis", "style": "dim"}
        tail = [rich_line(line, **form) for line in self._tail]
        state = rich_line(f"{job.name} {job.job_id}: {job_text(job)}")
        self._live.update(Group(self._nodes(job), state, *tail), refresh=True)

    def _nodes(self, job: Job) -> Any:
        from rich.table import Table

        table = Table()
        for heading in ("node", "is", "for", "address", "exit code", "reason"):
            table.add_column(heading, overflow="fold")
        rows = max(_FEWEST_ROWS, self._console.height - _OTHER_LINES)
        # Where not all fit, those that failed are what somebody looks for.
        shown = sorted(job.nodes, key=lambda node: node.state is not JobState.FAILED)[:rows]
        for node in sorted(shown, key=lambda node: node.index):
            ending = node.ending
            cells = (
                f"{node.index} (main)" if node.is_main else str(node.index),
                node.status,
                duration(self._seconds(node)),
                node.address or "",
                "" if ending is None or ending.exit_code is None else str(ending.exit_code),
                (ending.reason or ending.status_reason or "") if ending else _reason(node),
            )
            table.add_row(*map(rich_line, cells))
        if rest := [node for node in job.nodes if node not in shown]:
            table.caption = rich_line(f"and {len(rest)} more: {_counts(rest)}")
        return table

    def _seconds(self, node: JobNode) -> float:
        """Return how long a node ran, or for how long it is in its state."""
        if node.started_at:
            return ((node.stopped_at or datetime.now(UTC)) - node.started_at).total_seconds()
        status, since = self._since.get(node.index, ("", datetime.now(UTC)))
        if status != node.status:
            since = datetime.now(UTC)
            self._since[node.index] = (node.status, since)
        return (datetime.now(UTC) - since).total_seconds()


def _reason(node: JobNode) -> str:
    """Return how a node ended, or why it does not run yet."""
    if node.ending:
        return str(node.ending)
    return "pulls the container image" if node.pulls_image else ""


def job_text(job: Job) -> str:
    """Return the state of a job and of its nodes."""
    attempt = f", attempt {job.attempt} of {job.most_attempts}" if job.attempt > 1 else ""
    reason = f": {job.reason}" if job.reason else ""
    return f"{job.status}{attempt}, nodes: {_counts(job.nodes)}{reason}"


def _counts(nodes: Iterable[JobNode]) -> str:
    counts = Counter(node.status for node in nodes)
    return ", ".join(f"{count} {status}" for status, count in counts.items())
