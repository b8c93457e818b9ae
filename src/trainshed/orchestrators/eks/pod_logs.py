"""What the pods of jobs print, as the API server reads it at their nodes."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from trainshed.jobs.model import LogPage, LogStream
from trainshed.kubernetes.jobsets import JobSets

# A kubelet writes the time in front of each line; it may leave zeros out.
_STAMPED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) (.*)")
_NANO = 10**9
# The clock here may be behind that of a node, of which lines are asked for since a time.
_SKEW_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletLogs:
    """Reads the logs of pods; one that is not there has no lines.

    Attributes:
        jobsets: gives those of the cluster.
    """

    jobsets: Callable[[], JobSets]

    def page(self, stream: LogStream, token: str | None) -> LogPage:
        """Return what a pod has printed since.

        Args:
            stream: its namespace and name.
            token: time of the last line of the page before; None for all.
        """
        after = int(token or 0)
        since = int(time.time() - after / _NANO) + _SKEW_SECONDS if token else 0
        # Further ahead, all is asked for: the API server takes nothing below 1.
        lines = self.jobsets().log(stream.name, since=since if since > 0 else None)
        return _page([(at, line) for at, line in _timed(lines) if at > after], token)

    def end(self, stream: LogStream, most: int) -> LogPage:
        """Return the last lines of a pod.

        Args:
            stream: its namespace and name.
            most: so many lines at most.
        """
        return _page([*_timed(self.jobsets().log(stream.name, tail=most))], None)


def _page(found: Sequence[tuple[int, str]], token: str | None) -> LogPage:
    last = found[-1][0] if found else None
    return LogPage(
        lines=tuple(line for _, line in found),
        at=datetime.fromtimestamp(last / _NANO, UTC) if last else None,
        next_token=str(last) if last else token,
    )


def _timed(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their times, in nanoseconds."""
    at = 0
    for line in lines:
        text = line
        # A progress bar returns to the start of its line: what follows has the same time.
        if found := _STAMPED.fullmatch(line):
            whole = int(datetime.fromisoformat(found[1] + found[3]).timestamp())
            at, text = whole * _NANO + int((found[2] or "").ljust(9, "0")), found[4]
        yield at, text
