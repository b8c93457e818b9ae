"""Whether the windows of a calendar follow each other as jobs need it."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations, pairwise

from trainshed.checks import clusters
from trainshed.day import today
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import CapacityKind, ClusterPlan, Window

_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-groups-launch.html"
_TIME = "%Y-%m-%d %H:%M UTC"
# Inferred: large types take so long from their launch to their first job.
_BOOT = timedelta(minutes=15)
_EXAMPLE = """
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity:
  calendar:
"""


def _path(window: Window, *keys: str) -> tuple[str | int, ...]:
    return ("capacity", "calendar", window.entry, *keys)


@rule(
    "TS-CAP-015",
    over=clusters,
    title="Two windows of the calendar overlap",
    why="""
While two blocks or reservations are active, EC2 launches nodes into either of them, and a job may
have nodes of both. Two Capacity Blocks are not near each other, so that the job is slower, and it
ends with the first of them.
""",
    basis=Basis.INFERRED,
    sources=(_GROUPS, _BLOCKS),
    example=f"""{_EXAMPLE}
  - {{capacity_block: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}}
  - {{capacity_block: cr-0fedcba9876543210, from: 2126-12-07T11:30Z, until: 2126-12-14T11:30Z}}
""",
)
def overlapping_windows(plan: ClusterPlan) -> Iterator[Violation]:
    """A job should have all of its nodes in one block."""
    for first, second in combinations(plan.capacity.calendar, 2):
        end = min(first.launches_until, second.launches_until)
        if second.begins_at < end:
            yield Violation(
                path=_path(second, "from"),
                message=f"{first.reservation_id} and {second.reservation_id} are both active from "
                f"{second.begins_at:{_TIME}} to {end:{_TIME}}: the {plan.nodes.max} nodes of a job "
                "may be of both, and the job ends with the first",
                remedy=f"use one of them at a time, from {first.launches_until:{_TIME}} on the "
                "second, unless a job needs the nodes of both",
            )


@rule(
    "TS-CAP-016",
    over=clusters,
    title="A job does not run on from one window into the next",
    why="""
The nodes of a Capacity Block go from 30 minutes before its end on, and those of the next boot when
it begins. A job that runs meanwhile ends as one that lost a node: its next attempt waits for the
next window. Two blocks, of which one begins when the other ends, do not make one that is longer.
""",
    severity=Severity.INFO,
    basis=Basis.INFERRED,
    sources=(_BLOCKS,),
    example=f"""{_EXAMPLE}
  - {{capacity_block: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}}
  - {{capacity_block: cr-0fedcba9876543210, from: 2126-12-08T11:30Z, until: 2126-12-14T11:30Z}}
""",
)
def changes_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Windows that seem to be one have a time without nodes between them."""
    for first, second in pairwise(plan.capacity.calendar):
        follows = first.launches_until <= second.begins_at <= first.ends_at + _BOOT
        if first.is_block and follows:
            yield Violation(
                path=_path(second, "from"),
                message=f"the nodes of {first.reservation_id} go at {first.launches_until:{_TIME}},"
                f" and those of {second.reservation_id} are there from about "
                f"{second.begins_at + _BOOT:{_TIME}} on: a job that runs then ends, and its next "
                "attempt waits for them",
                remedy="write a checkpoint before, and give job.attempts 2 or more; EC2 may also "
                "sell more days of the first block: aws ec2 describe-capacity-block-extension-"
                f"offerings --capacity-reservation-id {first.reservation_id} "
                f"--region {plan.region} --capacity-block-extension-duration-hours 24",
            )


@rule(
    "TS-CAP-017",
    over=clusters,
    title="A window of the calendar is over",
    why="""
A Capacity Block or reservation that is over takes no launch, and CloudFormation may not add it to
the resource group of the cluster.
""",
    basis=Basis.INFERRED,
    sources=(_BLOCKS,),
    example=f"""{_EXAMPLE}
  - {{capacity_block: cr-0123456789abcdef0, from: 2025-12-01T11:30Z, until: 2025-12-08T11:30Z}}
  - {{capacity_block: cr-0fedcba9876543210, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}}
""",
)
def past_windows(plan: ClusterPlan) -> Iterator[Violation]:
    """What is over should leave the file."""
    calendar = plan.capacity.calendar
    over = [window for window in calendar if window.ends_at.date() < today()]
    for window in over:
        if len(over) == len(calendar):
            yield Violation(
                path=_path(window, "until"),
                message=f"{window.reservation_id} is over since {window.ends_at:{_TIME}}, and no "
                "window is left: no node can be launched",
                remedy="add the window of another block or reservation",
                severity=Severity.ERROR,
            )
        else:
            yield Violation(
                path=_path(window, "until"),
                message=f"{window.reservation_id} is over since {window.ends_at:{_TIME}}",
                remedy="remove its window; that changes the resource group alone, and ends no job",
            )


@rule(
    "TS-CAP-018",
    over=clusters,
    title="Nodes go on, on demand, when the window of a reservation ends",
    why="""
An On-Demand Capacity Reservation that ends leaves its instances running: they cost the same, and
EC2 may have no capacity for those that are launched anew. The cluster launches nodes in windows
only, but a job that runs at the end of one keeps its nodes.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html",
        _GROUPS,
    ),
    example=f"""{_EXAMPLE}
  - {{reservation: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}}
""",
)
def nodes_outlive_a_reservation(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever reserves for some days should know what the nodes do afterwards."""
    if plan.capacity.kind is CapacityKind.RESERVATION and plan.capacity.calendar:
        last = plan.capacity.calendar[-1]
        yield Violation(
            path=_path(last, "until"),
            message=f"a job that runs at {last.ends_at:{_TIME}}, when {last.reservation_id} ends, "
            "keeps its nodes, which are billed on demand until it ends",
            remedy="submit it with --timeout-hours, or end it: trainshed job cancel",
        )
