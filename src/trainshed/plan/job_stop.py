"""Whether the guard of a cluster stops its nodes before a job must be over."""

from datetime import UTC, datetime, timedelta

from trainshed.guard.stop_times import StopTimes
from trainshed.plan.calendar import span

_TIME = "%Y-%m-%d %H:%M UTC"


def stop_notice(
    times: StopTimes, longest: timedelta, now: datetime, *, ends_with_hours: bool
) -> str | None:
    """Say that a job which is submitted now may be ended by the guard; None when it is not.

    Args:
        times: when the guard stops nodes.
        longest: how long one attempt may take.
        now: when it is submitted, while the cluster has nodes.
        ends_with_hours: jobs end with the working hours, and not only when the cluster expires.
    """
    stops = {"guard.expires": times.expires_at}
    if ends_with_hours and times.working_hours:
        stops["guard.working_hours"] = times.working_hours.next_end(now)
    known = {name: moment for name, moment in stops.items() if moment}
    if not known:
        return None
    name = min(known, key=known.__getitem__)
    left = known[name] - now
    if left <= timedelta() or longest <= left:
        return None
    return (
        f"warning: the job may run {span(longest)}, and {name} of the cluster ends jobs at "
        f"{known[name].astimezone(UTC):{_TIME}}, {span(left)} after now: write checkpoints, or "
        "give --timeout-hours"
    )
