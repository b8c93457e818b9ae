"""In which window of a calendar a job runs, and whether it has the time that it may take."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from trainshed.plan.calendar import Window, span

_TIME = "%Y-%m-%d %H:%M UTC"


def job_window(calendar: Sequence[Window], now: datetime) -> Window | None:
    """Return the window that a job which is submitted now begins in; None when none is left."""
    active = [each for each in calendar if each.begins_at <= now < each.launches_until]
    # Of several that are active, the one that lasts longest.
    there = max(active, key=lambda each: each.launches_until, default=None)
    return there or next((each for each in calendar if each.begins_at > now), None)


def window_notices(
    calendar: Sequence[Window], window: Window, longest: timedelta, now: datetime
) -> tuple[str, ...]:
    """Say when the nodes of a job come, and whether they go before its time-out.

    Args:
        calendar: all windows, as they begin.
        window: the job's.
        longest: how long one attempt may take.
        now: when it is submitted.
    """
    begins = max(window.begins_at, now)
    left = window.launches_until - begins
    notices = []
    if window.begins_at > now:
        notices.append(
            f"the next nodes come at {window.begins_at:{_TIME}}, in {span(begins - now)}: "
            f"{window.reservation_id}"
        )
    if window.is_block and longest > left:
        later = [each for each in calendar if each.launches_until > window.launches_until]
        if not later:
            then = "no window follows"
        elif later[0].begins_at <= window.launches_until:
            then = f"its next attempt has nodes of {later[0].reservation_id}"
        else:
            then = (
                f"its next attempt waits for the window that begins at {later[0].begins_at:{_TIME}}"
            )
        notices.append(
            f"warning: the job may run {span(longest)}, and the nodes of {window.reservation_id} "
            f"go at {window.launches_until:{_TIME}}, {span(left)} after "
            f"{'its start' if window.begins_at > now else 'now'}; {then}: write checkpoints, or "
            "give --timeout-hours"
        )
    return tuple(notices)
