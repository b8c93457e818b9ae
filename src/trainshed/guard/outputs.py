"""What the outputs of a cluster's stack say about when its nodes are stopped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from trainshed.guard.working_hours import read_hours

EXPIRES_OUTPUT: Final = "GuardExpires"
HOURS_OUTPUT: Final = "GuardWorkingHours"
IDLE_OUTPUT: Final = "GuardIdleMinutes"
START_OUTPUT: Final = "GuardStart"
ENDED_AT_EXPIRY: Final = "guard.expires of "
"""How the reason of jobs of AWS Batch begins that are ended because their cluster has expired."""
TIME: Final = "%Y-%m-%dT%H:%MZ"
_SHOWN = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The guard has stopped the nodes of a cluster.

    Attributes:
        at: when; None where that is not known.
        reason: why, and since or until when.
        remedy: how the nodes come back.
        jobs_wait: jobs get none until then.
    """

    at: datetime | None
    reason: str
    remedy: str
    jobs_wait: bool = True


def stopped(outputs: Mapping[str, str], now: datetime) -> Stopped | None:
    """Return why the guard has stopped a cluster's nodes; None when it has not.

    It goes by the time: a deployment outside of working hours, or the command of the remedy, has
    nodes there all the same.

    Args:
        outputs: of the cluster's stack.
        now: the time.
    """
    start, expires = outputs.get(START_OUTPUT, ""), outputs.get(EXPIRES_OUTPUT)
    expiry = read_expiry(expires) if expires else None
    postpone = f"postpone guard.expires in the cluster file, deploy, then: {start}"
    if expiry and expiry <= now:
        return Stopped(
            at=expiry,
            reason=f"guard.expires of the cluster was {expiry:{_SHOWN}} UTC: its nodes are "
            "stopped, and its data is kept",
            remedy=postpone,
        )
    text = outputs.get(HOURS_OUTPUT)
    hours = read_hours(text) if text else None
    if hours is None or hours.include(now):
        return None
    begin = hours.next_begin(now)
    until = f"until {begin:{_SHOWN}} {hours.zone}"
    remedy = f"wait; or, for nodes until the working hours end next: {start}"
    if expiry and expiry <= begin:
        until = f"for good, as guard.expires is {expiry:{_SHOWN}} UTC, before they begin next"
        remedy = postpone
    return Stopped(
        at=hours.last_end(now),
        reason=f"it is outside the working hours of the cluster ({text}): its nodes are stopped "
        f"{until}, unless somebody has started them since",
        remedy=remedy,
    )


def idle_alarm(cluster: str) -> str:
    """Return the name of the alarm about the idle nodes of a cluster."""
    return f"{cluster}-idle"


def read_expiry(text: str) -> datetime:
    """Return the time of `EXPIRES_OUTPUT`."""
    return datetime.strptime(text, TIME).replace(tzinfo=UTC)


def let_go(
    outputs: Mapping[str, str], alarm: str, at: datetime | None, *, launched_for_jobs: bool
) -> Stopped:
    """Return what to say of a cluster that keeps no nodes, because they were idle.

    Args:
        outputs: of the cluster's stack, which has `IDLE_OUTPUT`.
        alarm: name of the alarm that had them let go.
        at: when its state changed last; None where that is not known.
        launched_for_jobs: a job has nodes launched all the same.
    """
    changed = f", whose state changed last at {at:{_SHOWN}} UTC" if at else ""
    start = outputs.get(START_OUTPUT, "")
    then = "; jobs have nodes launched" if launched_for_jobs else ""
    return Stopped(
        at=at,
        reason="the cluster keeps no nodes, as guard.idle has it when no accelerator was busy for "
        f"{outputs[IDLE_OUTPUT]} minutes (alarm {alarm}{changed}){then}",
        remedy=f"to keep nodes again: {start}",
        jobs_wait=not launched_for_jobs,
    )
