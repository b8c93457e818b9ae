"""A job that waits to be placed."""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from embedded_aws.batch.job import Job
from embedded_aws.batch.job_events import queue_blocked
from embedded_aws.batch.node_instances import Need
from embedded_aws.clock import seconds_here

# Of AWS: between a try to launch and the next; each pause is twice the one before.
_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 60, 960


@dataclass(slots=True, eq=False)
class Waiting:
    """A job of which no attempt runs.

    Attributes:
        job: the job.
        need: the instances that were last launched for it, if any were.
        instances: moto's, one for each node; None for one that is lacking.
        reason: why it cannot be placed.
        since: when that was first seen.
        again_at: when to try again.
        pause: how many seconds of AWS to wait for that.
    """

    job: Job
    need: Need | None = None
    instances: Sequence[Any] = ()
    reason: str | None = None
    since: float = 0
    again_at: float = 0
    pause: float = _SHORTEST_PAUSE_SECONDS

    def let_go(self) -> list[Any]:
        """Return the instances that it has, and has no more."""
        running = [each for each in self.instances if each]
        self.instances = ()
        return running

    def block(self, reason: str) -> None:
        """Note why it cannot be placed."""
        news = reason != self.reason
        self.job.row["statusReason"] = reason
        if news:
            self.reason, self.since = reason, monotonic()
            queue_blocked(self.job.row)

    def tried(self) -> None:
        """Note that it is placed now; if that fails, it waits for longer than the last time."""
        self.again_at = monotonic() + seconds_here(self.pause)
        self.pause = min(2 * self.pause, _LONGEST_PAUSE_SECONDS)
