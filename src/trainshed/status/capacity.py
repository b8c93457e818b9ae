"""When the reservations or Capacity Blocks of a cluster are there."""

from collections.abc import Iterator
from datetime import datetime

from trainshed.account.capacity_reservations import find_reservation
from trainshed.aws import Region
from trainshed.catalogue.capacity_blocks import ends_early
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.plan.calendar import Window
from trainshed.status.model import MISSING, WindowStatus


def windows_status(region: Region, plan: ClusterPlan, now: datetime) -> tuple[WindowStatus, ...]:
    """Return those that are there, and the next one; none where nodes are bought otherwise."""
    capacity = plan.capacity
    if capacity.calendar:
        there = [each for each in capacity.calendar if each.begins_at <= now < each.ends_at]
        later = [each for each in capacity.calendar if each.begins_at > now][:1]
        return tuple(map(_of_calendar, (*there, *later)))
    if not capacity.reservation_id:
        return ()
    found = find_reservation(region, capacity.reservation_id)
    if found is None:
        missing = WindowStatus(
            reservation_id=capacity.reservation_id,
            is_block=capacity.kind is CapacityKind.CAPACITY_BLOCK,
            state=MISSING,
            begins_at=None,
            ends_at=None,
        )
        return (missing,)
    ends_at = found.ends_at
    if ends_at and found.is_block:
        ends_at -= ends_early(found.instance_type)
    return (
        WindowStatus(
            reservation_id=found.reservation_id,
            is_block=found.is_block,
            state=found.state,
            begins_at=found.starts_at,
            ends_at=ends_at,
        ),
    )


def window_problems(found: WindowStatus) -> Iterator[str]:
    """Yield that a reservation or Capacity Block takes no nodes any more."""
    if found.is_lost:
        yield f"{found} is {found.state}"


def _of_calendar(window: Window) -> WindowStatus:
    return WindowStatus(
        reservation_id=window.reservation_id,
        is_block=window.is_block,
        state=None,
        begins_at=window.begins_at,
        ends_at=window.launches_until,
    )
