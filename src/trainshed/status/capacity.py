"""When the reservations or Capacity Blocks of a cluster are there."""

from datetime import datetime

from trainshed.account.capacity_reservations import find_reservation
from trainshed.aws import Region
from trainshed.catalogue.capacity_blocks import ends_early
from trainshed.plan import ClusterPlan
from trainshed.plan.calendar import Window
from trainshed.status.model import WindowStatus


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
        return ()
    ends_at = found.ends_at
    if ends_at and found.is_block:
        ends_at -= ends_early(found.instance_type)
    return (
        WindowStatus(
            reservation_id=found.reservation_id,
            is_block=found.is_block,
            begins_at=found.starts_at,
            ends_at=ends_at,
        ),
    )


def _of_calendar(window: Window) -> WindowStatus:
    return WindowStatus(
        reservation_id=window.reservation_id,
        is_block=window.is_block,
        begins_at=window.begins_at,
        ends_at=window.launches_until,
    )
