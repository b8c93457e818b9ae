"""The windows in which Capacity Blocks or reservations are there, one after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

# Inferred: large types take so long from their launch to their first job.
BOOT = timedelta(minutes=15)
_TIME = "%Y-%m-%d %H:%M"
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A Capacity Block or a reservation, and the time in which it is there.

    Attributes:
        entry: its place in the list of the cluster file.
        reservation_id: the `cr-...`.
        is_block: it is a Capacity Block.
        begins_at: when nodes can be launched into it.
        ends_at: when it ends.
        ends_early: how long before that EC2 begins to end its nodes, which it does in a Capacity
            Block; 0 in a reservation.
    """

    entry: int
    reservation_id: str
    is_block: bool
    begins_at: datetime
    ends_at: datetime
    ends_early: timedelta

    @property
    def launches_until(self) -> datetime:
        """When no nodes are launched into it any more; those of a Capacity Block go then."""
        return self.ends_at - self.ends_early

    @property
    def jobs_from(self) -> datetime:
        """About when nodes that are launched at its beginning take jobs."""
        return self.begins_at + BOOT

    @property
    def usable(self) -> timedelta:
        """How long a job may run in it."""
        return self.launches_until - self.begins_at

    @property
    def words(self) -> str:
        """Its id and its times."""
        return f"{self.reservation_id} {self.begins_at:{_TIME}} to {self.ends_at:{_TIME}}"


def in_order(windows: Sequence[Window]) -> tuple[Window, ...]:
    """Return windows as they begin."""
    return tuple(sorted(windows, key=lambda each: (each.begins_at, each.ends_at)))


def most_at_once(calendar: Sequence[Window]) -> int:
    """Return how many windows there are at most at one time."""
    return max(
        (
            sum(other.begins_at <= each.begins_at < other.ends_at for other in calendar)
            for each in calendar
        ),
        default=0,
    )


def longest_use(calendar: Sequence[Window]) -> timedelta:
    """Return how long a job may run in the longest window."""
    return max(each.usable for each in calendar)


def span(time: timedelta) -> str:
    """Return minutes below two hours, and hours above."""
    if time < 2 * _HOUR:
        minutes = max(1, round(time / timedelta(minutes=1)))
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    return f"{round(time / _HOUR, 1):g} hours"
