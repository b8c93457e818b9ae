"""Whether the windows of a calendar follow each other as jobs need it."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations, pairwise
from math import ceil

from trainshed.checkpoints import checkpoint_of, own_offers
from trainshed.checks import clusters
from trainshed.day import today
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import CapacityKind, ClusterPlan, Window
from trainshed.plan.calendar import BOOT, span

_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-groups-launch.html"
_LIFECYCLE = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-groups-lifecycle.html"
_MODIFY = (
    "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyCapacityReservation.html"
)
_TIME = "%Y-%m-%d %H:%M UTC"
_FILE_TIME = "%Y-%m-%dT%H:%MZ"
_MINUTE = timedelta(minutes=1)
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
have nodes of both. Those need not be near each other, so that the job is slower. With Capacity
Blocks it ends with the first of them.
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
    nodes = plan.nodes.max
    for first, second in combinations(plan.capacity.calendar, 2):
        end = min(first.launches_until, second.launches_until)
        # A reservation ends no job, and one node is near itself.
        if second.begins_at < end and (first.is_block or nodes > 1):
            of_both = f"the {nodes} nodes of a job may be of both"
            if not first.is_block:
                harm = f"{of_both}, and far from each other"
            elif nodes > 1:
                harm = f"{of_both}, and the job ends with the block that ends first"
            else:
                harm = "the node of a job may be of either, and the job ends with it"
            yield Violation(
                path=_path(second, "from"),
                message=f"{first.reservation_id} and {second.reservation_id} are both active from "
                f"{second.begins_at:{_TIME}} to {end:{_TIME}}: {harm}",
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
This is no more than good to know, because AWS sells nothing else: blocks end at 11:30 UTC, and
those of later days begin then.
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
        follows = first.launches_until <= second.begins_at <= first.ends_at + BOOT
        if first.is_block and follows:
            yield Violation(
                path=_path(second, "from"),
                message=f"the nodes of {first.reservation_id} go at {first.launches_until:{_TIME}},"
                f" and those of {second.reservation_id} are there from about "
                f"{second.jobs_from:{_TIME}} on: a job that runs then ends, and its next "
                "attempt waits for them",
                remedy="write a checkpoint before; each window that a job runs in takes one of its "
                "job.attempts. EC2 may also sell more days of the first block: "
                "aws ec2 describe-capacity-block-extension-"
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
An On-Demand Capacity Reservation that ends leaves its instances running: they cost the same, on
demand, until the next one of the group is active, which takes them in. The cluster launches nodes
in windows only, but a job that runs at the end of one keeps its nodes.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html",
        _GROUPS,
        _LIFECYCLE,
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


@rule(
    "TS-CAP-020",
    over=clusters,
    title="The time between two reservations of the calendar is shorter than a boot",
    why="""
The nodes of a job that runs when a reservation ends go on, on demand, and the next reservation
takes them in. So a short gap saves nothing, but in it no node is launched: a job that is submitted
then, or has lost a node, waits. Unlike that of a Capacity Block, the end of a reservation can be
changed while it is active.
""",
    basis=Basis.INFERRED,
    sources=(_LIFECYCLE, _MODIFY),
    example=f"""{_EXAMPLE}
  - {{reservation: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-08T11:30Z}}
  - {{reservation: cr-0fedcba9876543210, from: 2126-12-08T11:40Z, until: 2126-12-15T11:30Z}}
""",
)
def short_gap(plan: ClusterPlan) -> Iterator[Violation]:
    """Reservations that nearly touch should touch."""
    calendar = plan.capacity.calendar
    for index, second in enumerate(calendar[1:], start=1):
        first = max(calendar[:index], key=lambda each: each.ends_at)
        gap = second.begins_at - first.ends_at
        if not first.is_block and timedelta() < gap <= BOOT:
            yield Violation(
                path=_path(second, "from"),
                message=f"for {span(gap)} before {second.reservation_id} begins no node is "
                f"launched, because {first.reservation_id} is over: a job that is submitted then, "
                "or has lost a node, waits; nodes that run are billed all the same",
                remedy=f"let the first end when the second begins: aws ec2 "
                f"modify-capacity-reservation --capacity-reservation-id {first.reservation_id} "
                f"--region {plan.region} --end-date-type limited --end-date "
                f"{second.begins_at:{_FILE_TIME}}; and write that time as its until",
            )


@rule(
    "TS-CAP-021",
    over=clusters,
    title="A window of the calendar is too short for a job",
    why="""
From their launch to their first job nodes take about a quarter of an hour, and those of a Capacity
Block go from 30 minutes before its end on. In what is left of a short window no job runs at all,
or none comes to its first checkpoint (`training`): the window and an attempt of the job are lost.
""",
    basis=Basis.INFERRED,
    sources=(_BLOCKS,),
    example=f"""{_EXAMPLE}
  - {{capacity_block: cr-0123456789abcdef0, from: 2126-12-01T11:30Z, until: 2126-12-02T11:30Z}}
training: {{parameters: 7e9, checkpoint_minutes: 1440}}
""",
)
def short_window(plan: ClusterPlan) -> Iterator[Violation]:
    """A job should get somewhere in each window."""
    for window in plan.capacity.calendar:
        if window.usable <= BOOT:
            yield Violation(
                path=_path(window, "until"),
                message=f"{window.reservation_id} has nodes for {span(window.usable)}, and their "
                f"boot takes about {span(BOOT)}: "
                + ("no job runs in it" if window.is_block else "jobs run on demand from the start"),
                remedy="remove the window, or give it more time",
                severity=Severity.ERROR if window.is_block else None,
            )
        elif window.is_block and plan.training:
            has, boot = window.usable / _MINUTE, BOOT / _MINUTE
            training, writing = plan.training.checkpoint_minutes, _writing_minutes(plan)
            needs = boot + training + writing
            most = has - boot - writing
            if needs > has:
                yield Violation(
                    path=_path(window, "until"),
                    message=f"{window.reservation_id} has nodes for {has:,g} minutes, and the "
                    f"first checkpoint of a job takes {needs:,g}: {boot:g} of boot, {training:,g} "
                    f"of training, {writing:,} of writing; a job ends without it, and has done "
                    "nothing",
                    remedy=f"set training.checkpoint_minutes to at most {most:g}"
                    if most > 0
                    else "use faster storage, or give the window more time",
                )


def _writing_minutes(plan: ClusterPlan) -> int:
    """Return how long a checkpoint takes to write; nothing where nobody knows."""
    # How fast a file system is that is there already, nobody knows here.
    if not plan.training or any(each.existing for each in plan.storages):
        return 0
    checkpoint = checkpoint_of(plan.training)
    offers = own_offers(plan, checkpoint)
    return ceil(checkpoint.seconds(offers[0].mbps) / 60) if offers else 0
