"""Whether a Capacity Block has the nodes when jobs want them."""

from collections.abc import Iterator
from datetime import timedelta

from trainshed.catalogue.capacity_blocks import HOURS_MAX, NODES_MAX
from trainshed.checks import clusters
from trainshed.findings import Severity, Violation, rule
from trainshed.plan import CapacityKind, ClusterPlan
from trainshed.plan.calendar import longest_use, most_at_once

_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"


@rule(
    "TS-CAP-002",
    over=clusters,
    title="The largest job has more nodes than a Capacity Block",
    why="""
A Capacity Block has at most 64 instances. A job of more nodes on a cluster that names one block
waits in `RUNNABLE` forever. A resource group may have several blocks.
""",
    severity=Severity.ERROR,
    sources=(_BLOCKS,),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 100}}
capacity: {capacity_block: cr-0123456789abcdef0}
""",
)
def larger_than_a_block(plan: ClusterPlan) -> Iterator[Violation]:
    """A cluster on a Capacity Block has no more nodes than the largest block."""
    nodes, capacity = plan.nodes.max, plan.capacity
    blocks = most_at_once(capacity.calendar) if capacity.calendar else 1
    if capacity.kind is not CapacityKind.CAPACITY_BLOCK or not capacity.reservation_ids:
        return
    if nodes > blocks * NODES_MAX:
        of_a_time = f", and at most {blocks} are active at a time" if capacity.calendar else ""
        yield Violation(
            path=("instance", "nodes", "max"),
            message=f"a job may have {nodes} nodes, and a Capacity Block has at most "
            f"{NODES_MAX} instances{of_a_time}",
            remedy=f"set instance.nodes.max to the size of the block, at most {NODES_MAX}, "
            "or name a resource group of several blocks",
        )


@rule(
    "TS-CAP-004",
    over=clusters,
    title="A Capacity Block ends jobs that still run",
    why="""
EC2 terminates the instances of a Capacity Block from 30 minutes before its end on. A job that
still runs then is lost, and its next attempt waits forever. With orchestrator `ec2` a deployment
before the block begins fails, because it waits for every node, and after the end no node comes
back.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html",
        _BLOCKS,
    ),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity: {capacity_block: cr-0123456789abcdef0}
""",
)
def block_ends(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever uses a Capacity Block should know its end."""
    if plan.capacity.kind is not CapacityKind.CAPACITY_BLOCK:
        return
    block = "the window that they run in" if plan.capacity.calendar else plan.capacity.target
    if plan.traits.keeps_nodes:
        message = f"the cluster can be deployed while {block} is active, and ends with it"
        remedy = "deploy after it begins, and destroy the cluster before it ends"
    else:
        message = f"jobs may run {plan.jobs.timeout_hours} hours, and end with {block}"
        remedy = "submit a job so that it ends before"
    yield Violation(
        path=("capacity",),
        message=f"{message}: EC2 terminates its instances from 30 minutes before its end on",
        remedy=f"{remedy}, and write checkpoints to a file system or a bucket",
    )


@rule(
    "TS-BAT-003",
    over=clusters,
    title="A job may run longer than any Capacity Block or window lasts",
    why="""
A Capacity Block lasts at most 182 days, or as long as its window in the cluster's calendar, and EC2
ends its nodes from 30 minutes before its end on.
A time-out beyond that never applies: the job ends with its nodes, as if they had failed.
""",
    sources=("https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html",),
    example="""
zone: usw2-az4
instance: {type: trn1.32xlarge}
capacity: {capacity_block: cr-0123456789abcdef0}
job: {timeout_hours: 8760}
""",
)
def longer_than_a_block(plan: ClusterPlan) -> Iterator[Violation]:
    """A time-out should end a job before its nodes go."""
    hours, calendar = plan.jobs.timeout_hours, plan.capacity.calendar
    if plan.capacity.kind is not CapacityKind.CAPACITY_BLOCK:
        return
    longest = longest_use(calendar) / timedelta(hours=1) if calendar else HOURS_MAX
    if hours > longest:
        of_all = "window of the calendar" if calendar else "Capacity Block"
        yield Violation(
            path=("job", "timeout_hours"),
            message=f"jobs may run {hours} hours, and the longest {of_all} lasts {longest:g}",
            remedy="let jobs end by themselves: give at most so many hours, or what the block has "
            "left, in job.timeout_hours or with trainshed job submit --timeout-hours",
        )
