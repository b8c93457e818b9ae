"""Whether the windows of a calendar are those that EC2 has, and hold the cluster."""

from collections.abc import Iterator
from datetime import datetime

from trainshed.account.capacity_reservations import CapacityReservation, find_reservation
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import Window
from trainshed.preflight.subject import Subject, accounts

_WHEN = "capacity is a calendar"
_ACTIONS = ("ec2:DescribeCapacityReservations",)
_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
_API = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html"
_FILE_TIME = "%Y-%m-%dT%H:%MZ"


def _found(subject: Subject) -> Iterator[tuple[Window, CapacityReservation]]:
    """Yield the windows whose block or reservation is there, and not over."""
    for window in subject.plan.capacity.calendar:
        found = find_reservation(subject.aws, window.reservation_id)
        if found and not found.is_over(subject.now):
            yield window, found


@rule(
    "TS-ACC-038",
    over=accounts,
    title="A window of the calendar is not the one that EC2 has",
    when=_WHEN,
    why="""
The calendar says when nodes come and go, for `trainshed check`, `explain` and `job submit`. EC2
goes by its own times: a window that is longer than that of the block or reservation promises nodes
that are not there.
""",
    actions=_ACTIONS,
    sources=(_API, _BLOCKS),
    severity=Severity.ERROR,
)
def windows_are_those_of_ec2(subject: Subject) -> Iterator[Violation]:
    """The file should say what EC2 does."""
    for window, found in _found(subject):
        begins, ends = _minute(found.starts_at), _minute(found.ends_at)
        later = begins is not None and window.begins_at < begins
        earlier = ends is not None and window.ends_at > ends
        # A reservation that is there already may be used for a part of its time.
        differs = window.is_block and (begins, ends) != (window.begins_at, window.ends_at)
        for wrong, key, there in (
            (later or (differs and begins != window.begins_at), "from", begins),
            (earlier or (differs and ends != window.ends_at), "until", ends),
        ):
            if wrong and there:
                asked = window.begins_at if key == "from" else window.ends_at
                yield Violation(
                    path=("capacity", "calendar", window.entry, key),
                    message=f"{found} {'begins' if key == 'from' else 'ends'} at "
                    f"{there:{_FILE_TIME}}, and its window at {asked:{_FILE_TIME}}",
                    remedy=f"write {key}: {there:{_FILE_TIME}}",
                    severity=None if later or earlier else Severity.WARNING,
                )


def _minute(time: datetime | None) -> datetime | None:
    return time and time.replace(second=0, microsecond=0)


@rule(
    "TS-ACC-039",
    over=accounts,
    title="A block or reservation of the calendar has fewer instances than the cluster",
    when=_WHEN,
    why="""
A job starts when all of its nodes are there. One of `instance.nodes.max` nodes waits while the
blocks or reservations that are active have fewer instances together.
""",
    actions=_ACTIONS,
    sources=(_BLOCKS,),
    answers=("TS-CAP-007",),
    severity=Severity.WARNING,
)
def windows_are_large_enough(subject: Subject) -> Iterator[Violation]:
    """The largest job should fit into each window, and must fit into one."""
    nodes, pairs = subject.plan.nodes.max, list(_found(subject))
    totals = {
        window: sum(
            found.total
            for other, found in pairs
            if other.begins_at <= window.begins_at < other.launches_until
        )
        for window, _ in pairs
    }
    most = max(totals.values(), default=0)
    for window, found in pairs:
        if totals[window] < nodes:
            yield Violation(
                path=("capacity", "calendar", window.entry),
                message=f"when {found} begins, {totals[window]} instances are there, and the "
                f"cluster has up to {nodes} nodes",
                remedy=f"submit with --nodes {totals[window]} what is to run then"
                if most >= nodes
                else f"set instance.nodes.max to {most}",
                severity=Severity.ERROR if most < nodes else None,
            )
