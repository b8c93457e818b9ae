"""The windows of a calendar, drawn as lines of text."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from trainshed.plan import Window

_COLUMNS = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """One window.

    Attributes:
        reservation: id of the block or reservation.
        begins: when its nodes can come, in UTC.
        nodes_until: when no more come; those of a Capacity Block go then.
        ends: when it ends.
        hours: for which a job can have nodes.
        hours_before: without nodes, since the windows before it; None for the first.
        picture: its time in that of the whole calendar.
    """

    reservation: str
    begins: datetime
    nodes_until: datetime
    ends: datetime
    hours: float
    hours_before: float | None
    picture: str


def calendar_rows(calendar: Sequence[Window]) -> tuple[WindowRow, ...]:
    """Return the windows as they begin, each with its part of the whole time."""
    return tuple(_row(calendar, index) for index in range(len(calendar)))


def _row(calendar: Sequence[Window], index: int) -> WindowRow:
    window, earlier = calendar[index], calendar[:index]
    start = calendar[0].begins_at
    whole = max(each.ends_at for each in calendar) - start
    first = round((window.begins_at - start) / whole * _COLUMNS)
    last = max(first + 1, round((window.launches_until - start) / whole * _COLUMNS))
    gone = max((each.launches_until for each in earlier), default=None)
    return WindowRow(
        reservation=window.reservation_id,
        begins=window.begins_at,
        nodes_until=window.launches_until,
        ends=window.ends_at,
        hours=_hours(window.usable),
        hours_before=None if gone is None else _hours(max(timedelta(), window.begins_at - gone)),
        picture="." * first + "#" * (last - first) + "." * (_COLUMNS - last),
    )


def _hours(time: timedelta) -> float:
    return round(time / timedelta(hours=1), 2)
