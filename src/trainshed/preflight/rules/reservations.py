"""Whether the reservation or the Capacity Block is what the nodes can be launched into."""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from trainshed.account.capacity_reservations import (
    CapacityReservation,
    find_group,
    find_reservation,
    most_at_once,
    reserved_in,
)
from trainshed.catalogue.capacity_blocks import ends_early
from trainshed.documents.problems import Path
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.plan import CapacityKind
from trainshed.preflight.rules.capacity import own_nodes
from trainshed.preflight.subject import Subject, accounts

_WHEN = "capacity names a reservation or a Capacity Block"
_ACTIONS = ("ec2:DescribeCapacityReservations",)
_GROUP_ACTIONS = (
    *_ACTIONS,
    "resource-groups:GetGroupConfiguration",
    "resource-groups:ListGroupResources",
)
_RESERVATIONS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html"
_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
_GROUPS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-group.html"
_LINUX = "Linux/UNIX"
_TIME = "%Y-%m-%d %H:%M UTC"


class _Difference(NamedTuple):
    """What a reservation has, and what the nodes have."""

    what: str
    has: str
    asked: str
    path: Path


def _path(subject: Subject, reservation_id: str | None = None) -> Path:
    """Return the field that names a reservation, or the group."""
    capacity = subject.plan.capacity
    is_block = capacity.kind is CapacityKind.CAPACITY_BLOCK
    field = "capacity_block" if is_block else "reservation"
    for window in capacity.calendar:
        if window.reservation_id == reservation_id:
            return "capacity", "calendar", window.entry, field
    return ("capacity", "calendar") if capacity.calendar else ("capacity", field)


def _found(subject: Subject) -> Iterator[CapacityReservation]:
    """Yield those of the reservations that the plan names that are there."""
    for named in subject.plan.capacity.reservation_ids:
        if found := find_reservation(subject.aws, named):
            yield found


def _differences(subject: Subject, found: CapacityReservation) -> Iterator[_Difference]:
    plan, path = subject.plan, _path(subject, found.reservation_id)
    zone = found.zone_id if plan.zone.is_id else found.zone_name
    pairs = (
        _Difference("instance type", found.instance_type, plan.instance.name, ("instance", "type")),
        _Difference("zone", zone, plan.zone.name, ("zone",)),
        _Difference("platform", found.platform, _LINUX, path),
        _Difference("tenancy", found.tenancy, "default", path),
    )
    yield from (each for each in pairs if each.has and each.has != each.asked)


def _usable(subject: Subject) -> list[CapacityReservation]:
    """Return those that the plan names, or those of its group that nodes are launched into."""
    capacity = subject.plan.capacity
    group = capacity.reservation_group
    if capacity.calendar:
        return [each for each in _found(subject) if not each.is_over(subject.now)]
    if group is None:
        return list(_found(subject))
    members = find_group(subject.aws, group)
    return [
        each
        for each in (members.reservations if members else ())
        if each.is_block and not each.is_over(subject.now) and not any(_differences(subject, each))
    ]


def begins_later(subject: Subject) -> CapacityReservation | None:
    """Return what begins first of what nodes are launched into, unless it has begun."""
    usable = _usable(subject)
    found = min(usable, key=lambda each: each.starts_at or subject.now, default=None)
    has_begun = found is None or found.starts_at is None or found.starts_at <= subject.now
    return None if has_begun else found


@rule(
    "TS-ACC-030",
    over=accounts,
    title="The reservation or Capacity Block does not exist, or has ended",
    when=_WHEN,
    why="""
A launch that targets a reservation which does not exist in the region, or has ended, is refused.
""",
    actions=_ACTIONS,
    sources=(_RESERVATIONS, _BLOCKS),
    severity=Severity.ERROR,
)
def reservation_is_there(subject: Subject) -> Iterator[Violation]:
    """A reservation that is over takes no launch."""
    for named in subject.plan.capacity.reservation_ids:
        found = find_reservation(subject.aws, named)
        if found is None:
            yield Violation(
                path=_path(subject, named),
                message=f"there is no {named} in {subject.plan.region}, or it is of another "
                "account that does not share it",
                remedy="name one that aws ec2 describe-capacity-reservations lists",
            )
        elif found.is_over(subject.now):
            ended = f" since {found.ends_at:{_TIME}}" if found.ends_at else ""
            yield Violation(
                path=_path(subject, named),
                message=f"{found} is over{ended} ({found.state})",
                remedy="remove its window"
                if subject.plan.capacity.calendar
                else "name another, or launch on demand",
            )


@rule(
    "TS-ACC-031",
    over=accounts,
    title="The reservation or Capacity Block is of another kind than the nodes",
    when=_WHEN,
    why="""
A launch uses a reservation only when instance type, platform, zone and tenancy are the same, and
the market type says whether it is a Capacity Block. Otherwise EC2 refuses it.
""",
    actions=_ACTIONS,
    sources=(_RESERVATIONS, _BLOCKS),
    answers=("TS-CAP-007",),
    severity=Severity.ERROR,
)
def reservation_fits(subject: Subject) -> Iterator[Violation]:
    """Type, platform, zone, tenancy and market must be the same."""
    capacity = subject.plan.capacity
    asks_block = capacity.kind is CapacityKind.CAPACITY_BLOCK
    for found in _found(subject):
        named = found.reservation_id
        if found.is_block != asks_block:
            field = "capacity_block" if found.is_block else "reservation"
            yield Violation(
                path=_path(subject, named),
                message=f"{named} is a {str(found).rsplit(' ', 1)[0]}",
                remedy=f"write {field}: {named} in its window"
                if capacity.calendar
                else f"write capacity: {{{field}: {named}}}",
            )
        for what, has, asked, path in _differences(subject, found):
            yield Violation(
                path=path,
                message=f"{found} has {what} {has}, and the nodes have {asked}",
                remedy=f"set {'.'.join(map(str, path))} to {has}, or name another reservation"
                if path[0] != "capacity"
                else "name another reservation",
            )


@rule(
    "TS-ACC-035",
    over=accounts,
    title="The resource group has no Capacity Block for the nodes",
    when="capacity names a resource group",
    why="""
A launch that names a resource group uses those Capacity Blocks in it that are of its instance
type, platform, zone and tenancy. It may name only a group of the type
`AWS::EC2::CapacityReservationPool`.
""",
    actions=_GROUP_ACTIONS,
    sources=(_GROUPS, _BLOCKS),
    severity=Severity.ERROR,
)
def group_has_a_block(subject: Subject) -> Iterator[Violation]:
    """A group without a block that fits takes no launch."""
    plan, named = subject.plan, subject.plan.capacity.reservation_group
    if named is None:
        return
    group = find_group(subject.aws, named)
    if group is None:
        message, remedy = f"there is no {named}", "name one that aws resource-groups list-groups "
        "lists"
    elif not group.is_pool:
        message = f"{named} is not of type AWS::EC2::CapacityReservationPool"
        remedy = "make a group with this type in its configuration, and add the blocks to it"
    elif not _usable(subject):
        message = (
            f"{named} has no Capacity Block for {plan.instance.name} in {plan.zone.name} that is "
            f"not over, of {len(group.reservations)} reservations"
        )
        remedy = "add one: aws resource-groups group-resources --group " + named
    else:
        return
    yield Violation(path=_path(subject), message=message, remedy=remedy)


@rule(
    "TS-ACC-032",
    over=accounts,
    title="The reservation or Capacity Block has fewer instances than the cluster",
    when=_WHEN,
    why="""
A multi-node job starts when all of its nodes are there. A named reservation takes no more nodes
than it has instances, and a job of more nodes waits forever. The Capacity Blocks of a resource
group count together while they are there at one time.
""",
    actions=(*_GROUP_ACTIONS, "ec2:DescribeInstances"),
    sources=(_RESERVATIONS, _BLOCKS),
    answers=("TS-CAP-007",),
    severity=Severity.ERROR,
)
def reservation_is_large_enough(subject: Subject) -> Iterator[Violation]:
    """The largest job must fit, beside what others have launched into it."""
    usable, nodes = _usable(subject), subject.plan.nodes.max
    together = most_at_once(usable, subject.now) or usable
    if not together or subject.plan.capacity.calendar:
        return
    reserved, is_open = reserved_in(together), all(each.state == "active" for each in together)
    if reserved.total < nodes:
        yield Violation(
            path=("instance", "nodes", "max"),
            message=f"{reserved.size}, and the cluster has up to {nodes}",
            remedy=f"set instance.nodes.max to {reserved.total}, or name a resource group of "
            "several Capacity Blocks that are there at one time",
        )
    elif is_open and reserved.free + own_nodes(subject) < nodes:
        yield Violation(
            path=_path(subject),
            message=f"{reserved.rest}, and the cluster has up to {nodes} nodes",
            remedy="end what else runs there, or run smaller jobs",
        )


@rule(
    "TS-ACC-033",
    over=accounts,
    title="Jobs may run longer than the Capacity Block",
    when="capacity names a Capacity Block, or a resource group of them",
    why="""
EC2 ends the instances of a Capacity Block from 30 minutes before its end on, whatever runs on
them. A job whose time limit passes that moment may lose what it has done since its last
checkpoint.
""",
    actions=_GROUP_ACTIONS,
    sources=(_BLOCKS,),
    severity=Severity.WARNING,
)
def job_outlasts_window(subject: Subject) -> Iterator[Violation]:
    """A job that starts as early as it can may still pass the end."""
    for found in _usable(subject):
        yield from _outlasted(subject, found)


def _outlasted(subject: Subject, found: CapacityReservation) -> Iterator[Violation]:
    # EC2 user guide: instances outlive a capacity reservation, and are on demand from then on.
    if not found.is_block or found.ends_at is None or found.ends_at <= subject.now:
        return
    end = found.ends_at - ends_early(found.instance_type)
    start = max(subject.now, found.starts_at or subject.now)
    hours = subject.plan.jobs.timeout_hours
    if start + timedelta(hours=hours) > end:
        left = int((end - start) / timedelta(hours=1))
        if not left:
            remedy = "name another block: no time is left in this one"
        elif subject.plan.capacity.calendar:
            # Another window may be longer.
            remedy = f"submit with --timeout-hours {left} what is to end in it"
        else:
            remedy = f"set job.timeout_hours to {left}"
        yield Violation(
            path=("job", "timeout_hours"),
            message=f"a job may run {hours} hours, and the nodes of {found} go at {end:{_TIME}}: "
            f"{left} hours after {'its start' if start > subject.now else 'now'}",
            remedy=remedy,
        )


@rule(
    "TS-ACC-034",
    over=accounts,
    title="The Capacity Block or reservation has not begun",
    when=_WHEN,
    why="""
Jobs wait until it begins. Nodes that are kept all the time cannot be launched before, so that a
deployment which waits for them fails.
""",
    actions=_GROUP_ACTIONS,
    sources=(_BLOCKS,),
    severity=Severity.INFO,
    basis=Basis.INFERRED,
)
def window_has_not_begun(subject: Subject) -> Iterator[Violation]:
    """Before its start there is nothing to launch into."""
    found = begins_later(subject)
    if found:
        kept = subject.plan.traits.keeps_nodes
        yield Violation(
            path=_path(subject),
            message=f"{found} begins at {found.starts_at:{_TIME}} ({found.state})",
            remedy="deploy after that: the deployment waits for the nodes"
            if kept
            else "deploy now or later; jobs start then",
        )
