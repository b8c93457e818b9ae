"""What nodes print, where CloudWatch Logs has it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trainshed.aws import Region, accepting
from trainshed.jobs.model import LogPage, LogStream


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudWatchLogs:
    """Reads streams of CloudWatch Logs; one that is not there has no lines.

    Attributes:
        region: where they are.
    """

    region: Region

    def page(self, stream: LogStream, token: str | None) -> LogPage:
        """Return a page of a stream.

        Args:
            stream: the stream.
            token: `next_token` of the page before; None for the first page.
        """
        return _read(self.region, stream, token, startFromHead=True)

    def end(self, stream: LogStream, most: int) -> LogPage:
        """Return the last entries of a stream.

        Args:
            stream: the stream.
            most: so many entries at most; one may have several lines.
        """
        return _read(self.region, stream, None, startFromHead=False, limit=most)


def _read(region: Region, stream: LogStream, token: str | None, **which: Any) -> LogPage:
    answer: Mapping[str, Any] = {"events": [], "nextForwardToken": token}
    with accepting("ResourceNotFoundException"):
        answer = region.call(
            "logs",
            "get_log_events",
            logGroupName=stream.group,
            logStreamName=stream.name,
            **which,
            **({"nextToken": token} if token else {}),
        )
    events = answer["events"]
    return LogPage(
        # A progress bar returns to the start of its line instead of ending it.
        lines=tuple(line for event in events for line in event["message"].splitlines()),
        at=datetime.fromtimestamp(events[-1]["timestamp"] / 1000, UTC) if events else None,
        # API reference: at the end of the stream the token that was passed comes back. A page may
        # be empty before that.
        next_token=answer["nextForwardToken"],
    )
