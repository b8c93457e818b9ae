"""The messages of a cluster at times that its file says."""

from collections.abc import Iterator
from datetime import timedelta

from trainshed.monitoring.model import TimedMessage
from trainshed.plan import ClusterPlan

_BEFORE = timedelta(hours=2)
_TIME = "%Y-%m-%d %H:%M"


def messages_of(plan: ClusterPlan) -> Iterator[TimedMessage]:
    """Yield a message two hours before each window of the calendar ends.

    A Capacity Block or reservation that the file names without a window has no end there; of a
    Capacity Block, `rules_of` tells by EC2's event, forty minutes before its end.
    """
    for window in plan.capacity.calendar:
        what = "Capacity Block" if window.is_block else "reservation"
        then = (
            f"EC2 begins to end its instances at {window.launches_until:%H:%M}. Have jobs write "
            "their checkpoints."
            if window.is_block
            else "no nodes are launched into it after that, and those that run go on, on demand, "
            "until their job ends."
        )
        yield TimedMessage(
            name=window.reservation_id,
            at=window.ends_at - _BEFORE,
            subject=f"{window.reservation_id} ends in two hours: {plan.name}",
            says=f"{plan.name}: the {what} {window.reservation_id} ends at "
            f"{window.ends_at:{_TIME}} UTC; {then}",
        )
