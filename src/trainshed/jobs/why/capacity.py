"""Whether EC2 gives the instances that the job needs."""

from collections.abc import Iterator
from datetime import datetime

from trainshed.account.capacity_reservations import CapacityReservation, reserved_in
from trainshed.catalogue import increase_command
from trainshed.catalogue.capacity_blocks import ends_early
from trainshed.findings import Severity, Violation, rule
from trainshed.jobs.model import JobState
from trainshed.jobs.why.evidence import Evidence
from trainshed.jobs.why.judging import jobs

# What EC2 and EC2 Auto Scaling say about a launch that failed, and what to do.
_REMEDIES = {
    "sufficient": "wait, ask for fewer nodes, or use another zone, a reservation or a Capacity "
    "Block (docs/spec.md)",
    "vcpu": "ask for a larger quota: Service Quotas, Amazon EC2",
    "instances than your current": "ask for a larger quota: Service Quotas, Amazon EC2",
    "limitexceeded": "ask for a larger quota: Service Quotas, Amazon EC2",
    "launch template": "deploy the cluster again, which makes a launch template that fits",
    "placement group": "deploy the cluster again; instances of other clusters must not be in the "
    "placement group",
    "not authorized": "allow it to the role AWSServiceRoleForAutoScaling, also in the policy of "
    "your KMS key (docs/security.md)",
    "kms": "allow the key to AWSServiceRoleForAutoScaling (docs/security.md)",
    "unsupported": "the zone lacks the instance type: trainshed explain names zones that have it",
}


@rule(
    "TS-JOB-009",
    over=jobs,
    title="EC2 Auto Scaling could not launch nodes",
    severity=Severity.ERROR,
    why="""
EC2 Auto Scaling could not launch nodes; its message is quoted.

EC2 Auto Scaling knows why a launch failed, also where AWS Batch gives no reason.
""",
    remedy="Do what the finding says about the message",
)
def failed_launches(evidence: Evidence) -> Iterator[Violation]:
    """EC2 Auto Scaling knows why a launch failed, also where AWS Batch gives no reason."""
    messages = dict.fromkeys(each.message for each in evidence.failed_launches)
    for message in messages if evidence.waits else ():
        latest = max(each.at for each in evidence.failed_launches if each.message == message)
        yield Violation(
            message=f"a launch of nodes failed at {latest:%Y-%m-%d %H:%M} UTC: "
            f"{' '.join(message.split()).rstrip('.')}",
            remedy=launch_remedy(message),
        )


def launch_remedy(message: str) -> str:
    """Return what to do about what EC2 says of a launch."""
    return next(
        (text for part, text in _REMEDIES.items() if part in message.casefold()),
        "fix what the message names",
    )


@rule(
    "TS-JOB-010",
    over=jobs,
    title="The account's quota of vCPUs is smaller than the job",
    severity=Severity.ERROR,
    why="The whole job must fit in the account's quota at once; Capacity Blocks do not count.",
    remedy="Ask for a larger one, by the command that the finding names",
)
def quota(evidence: Evidence) -> Iterator[Violation]:
    """The whole job must fit in the account's quota at once; Capacity Blocks do not count."""
    applied = evidence.quota
    in_block = any(each.is_block for each in evidence.reservations)
    if evidence.waits and applied and not in_block and applied.value < evidence.vcpus:
        yield Violation(
            message=f"the job needs {evidence.vcpus} vCPUs, and the account's quota "
            f"{applied.quota.name!r} ({applied.quota.code}) is {applied.value:g}",
            remedy=increase_command(applied.quota, evidence.vcpus, evidence.region),
        )


@rule(
    "TS-JOB-011",
    over=jobs,
    title="The reservation or Capacity Block is not open, too small or in use",
    severity=Severity.ERROR,
    why="""
The reservation or Capacity Block has not begun, is over, ends within 30 minutes, is too small or in
use.

Nodes of a reservation or a block are there between its start and its end.
""",
    remedy="Wait, use fewer nodes, or name another one",
)
def reservation(evidence: Evidence) -> Iterator[Violation]:
    """Nodes of a reservation or a block are there between its start and its end."""
    if not (evidence.waits or evidence.job.state is JobState.FAILED):
        return
    closed = {each: _why_closed(each, evidence.now) for each in evidence.reservations}
    usable = [each for each, why in closed.items() if why is None]
    if not usable:
        # Of several, the next one: that others are over, or begin after it, changes nothing.
        later = [each for each in closed if each.starts_at and each.starts_at > evidence.now]
        first = min(later, key=lambda each: each.starts_at or evidence.now, default=None)
        for each, why in closed.items():
            if why and first in (each, None):
                yield Violation(message=f"{each} {why[0]}", remedy=why[1])
        return
    reserved, nodes = reserved_in(usable), evidence.job.node_count
    if reserved.total < nodes:
        yield Violation(
            message=f"{reserved.size}, and the job has {nodes} nodes",
            remedy=f"submit with --nodes {reserved.total}",
        )
    elif evidence.waits and reserved.free < nodes and not evidence.instances:
        yield Violation(
            message=reserved.rest,
            remedy="wait until the others are free, or ask for fewer nodes",
        )


@rule(
    "TS-JOB-033",
    over=jobs,
    title="Nodes of a waiting job are billed while EC2 has no capacity for the others",
    why="""
Some nodes of a waiting job run, and are billed, while EC2 has no capacity for the others; the
finding says how many, and their price per hour.

Nodes that have started are billed while their job waits for the others; reserved ones are billed
anyway.
""",
    remedy="End the job, or ask for fewer nodes; `job.capacity_wait_hours` limits the wait",
)
def idle_nodes(evidence: Evidence) -> Iterator[Violation]:
    """Nodes are billed while their job waits for the others; reserved ones are billed anyway."""
    placed = sum(each.nodes for each in evidence.placed)
    idle = sum(each.is_running for each in evidence.instances) - placed
    wanted = evidence.job.node_count
    lacks = evidence.failed_launches or evidence.short_of_capacity
    if not (evidence.waits and lacks) or evidence.reservations or not 0 < idle < wanted:
        return
    price = evidence.node_price
    cost = f"{price.usd * idle:,.2f} USD an hour" if price else "a price that is not known"
    limit = evidence.queue.capacity_wait_seconds if evidence.queue else None
    until = f" for {limit / 3600:g} hours (job.capacity_wait_hours)" if limit else ""
    yield Violation(
        message=f"of the job's {wanted} nodes, {idle} run and wait for the others, for {cost}",
        remedy=f"its queue lets it wait{until}: end it, ask for {idle} nodes, or reserve them",
    )


def _why_closed(it: CapacityReservation, now: datetime) -> tuple[str, str] | None:
    """Return why a reservation takes no launch at this time, and what to do; None if it does."""
    another = "name another in capacity of the cluster file, and deploy"
    if it.starts_at and it.starts_at > now:
        return f"begins at {it.starts_at:%Y-%m-%d %H:%M} UTC", "wait: the job starts then"
    if it.is_over(now):
        return f"is over ({it.state})", another
    if it.is_block and it.ends_at and it.ends_at - now <= ends_early(it.instance_type):
        ends = f"ends at {it.ends_at:%Y-%m-%d %H:%M} UTC"
        return f"{ends}, and EC2 ends its instances before that", another
    return None
