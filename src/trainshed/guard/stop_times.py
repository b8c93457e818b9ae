"""When the guard of a cluster stops its nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from trainshed.guard.outputs import EXPIRES_OUTPUT, HOURS_OUTPUT, IDLE_OUTPUT, read_expiry
from trainshed.guard.working_hours import WorkingHours, read_hours


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTimes:
    """When the guard of a cluster stops its nodes.

    Attributes:
        expires_at: for good; None for never.
        working_hours: outside of these; None for never.
        idle_minutes: after so many without a busy accelerator; None for never.
    """

    expires_at: datetime | None = None
    working_hours: WorkingHours | None = None
    idle_minutes: int | None = None


def stop_times(outputs: Mapping[str, str]) -> StopTimes:
    """Return when the guard of a deployed cluster stops its nodes.

    Args:
        outputs: of the cluster's stack.
    """
    expires, hours, idle = (
        outputs.get(each) for each in (EXPIRES_OUTPUT, HOURS_OUTPUT, IDLE_OUTPUT)
    )
    return StopTimes(
        expires_at=read_expiry(expires) if expires else None,
        working_hours=read_hours(hours) if hours else None,
        idle_minutes=int(idle) if idle else None,
    )
