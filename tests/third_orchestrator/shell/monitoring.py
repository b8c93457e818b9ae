"""What watches its nodes: nothing of its own."""

from collections.abc import Iterator

from trainshed.monitoring.model import Alarm, EventRule, Widget
from trainshed.plan import ClusterPlan


def widgets(plan: ClusterPlan) -> Iterator[Widget]:
    """Yield no graphs."""
    yield from ()


def alarms(plan: ClusterPlan) -> Iterator[Alarm]:
    """Yield no alarms."""
    yield from ()


def rules(plan: ClusterPlan) -> Iterator[EventRule]:
    """Yield no rules."""
    yield from ()
