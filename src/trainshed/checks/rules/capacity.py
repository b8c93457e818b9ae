"""Whether EC2 will have the nodes, and what they cost while no job runs."""

from collections.abc import Iterator

from trainshed.checks.rule import Basis, Violation, fleet_rule, rule
from trainshed.findings import Severity
from trainshed.plan import BatchPlan, CapacityKind, ClusterPlan, Fleet

_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"
# EC2 user guide, "Capacity Blocks for ML".
_BLOCK_NODES_MAX = 64
_NODES_MAX = ("instance", "nodes", "max")


@rule(
    "TS-CAP-001",
    title="The instance type has no on-demand price",
    why="""
The EC2 API lists every type as `on-demand`, but AWS's price list has no on-demand price for some,
and AWS's pages offer them in Capacity Blocks. A launch on demand is then likely to be refused for
want of capacity, and the job waits in `RUNNABLE`.
""",
    basis=Basis.INFERRED,
    sources=(
        "https://aws.amazon.com/ec2/capacityblocks/pricing/",
        "https://aws.amazon.com/ec2/pricing/on-demand/",
    ),
    example="""
name: Example
region: us-east-2
instance: {type: trn2.48xlarge, nodes: {max: 2}}
""",
)
def not_sold_on_demand(plan: ClusterPlan) -> Iterator[Violation]:
    """A type without an on-demand price is bought in another way."""
    if plan.capacity.kind is CapacityKind.ON_DEMAND and not plan.instance.priced_on_demand:
        yield Violation(
            path=("instance", "type"),
            message=f"AWS publishes no on-demand price for {plan.instance.name}: it may launch "
            "from a Capacity Block or a reservation only",
            remedy="buy a Capacity Block and name it in capacity: {capacity_block: cr-...}, or "
            "take a type that is sold on demand",
        )


@rule(
    "TS-CAP-002",
    title="The largest job has more nodes than a Capacity Block",
    why="""
A Capacity Block has at most 64 instances, and a cluster launches into one block. A job of more
nodes waits in `RUNNABLE` for ever.
""",
    severity=Severity.ERROR,
    sources=(_BLOCKS,),
    example="""
name: Example
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 100}}
capacity: {capacity_block: cr-0123456789abcdef0}
""",
)
def larger_than_a_block(plan: ClusterPlan) -> Iterator[Violation]:
    """A cluster on a Capacity Block has no more nodes than the largest block."""
    nodes = plan.spec.instance.nodes.max
    if plan.capacity.kind is CapacityKind.CAPACITY_BLOCK and nodes > _BLOCK_NODES_MAX:
        yield Violation(
            path=_NODES_MAX,
            message=f"a job may have {nodes} nodes, and a Capacity Block has at most "
            f"{_BLOCK_NODES_MAX} instances",
            remedy=f"set instance.nodes.max to the size of the block, at most {_BLOCK_NODES_MAX}, "
            "or use a reservation",
        )


@rule(
    "TS-CAP-003",
    title="Nodes are kept on a Capacity Block that is there for a time only",
    why="""
With `instance.nodes.min`, AWS Batch keeps that many nodes at all times. Before the block begins
and after it ends each launch fails, and AWS Batch tries again and again; it may turn the compute
environment `INVALID`. The block is paid in advance, so a node that waits for a job saves only the
minutes of its boot.
""",
    basis=Basis.INFERRED,
    sources=(_BLOCKS,),
    example="""
name: Example
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {min: 2, max: 4}}
capacity: {capacity_block: cr-0123456789abcdef0}
""",
)
def nodes_kept_on_a_block(plan: ClusterPlan) -> Iterator[Violation]:
    """AWS Batch should launch into a Capacity Block only for jobs."""
    nodes, block = plan.spec.instance.nodes.min, plan.capacity.reservation_id
    in_block = plan.capacity.kind is CapacityKind.CAPACITY_BLOCK
    if in_block and nodes and isinstance(plan.orchestrator, BatchPlan):
        yield Violation(
            path=("instance", "nodes", "min"),
            message=f"AWS Batch keeps {nodes} nodes at all times, but {block} begins at one time "
            "and ends at another: outside of it launches fail",
            remedy="set instance.nodes.min to 0; jobs that are submitted before the block begins "
            "wait for it",
        )


@rule(
    "TS-CAP-004",
    title="A Capacity Block ends jobs that still run",
    why="""
EC2 terminates the instances of a Capacity Block from 30 minutes before its end on. A job that
still runs then is lost, and its next attempt waits for ever. With orchestrator `ec2` a deployment
before the block begins fails, because it waits for every node, and after the end no node comes
back.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html",
        _BLOCKS,
    ),
    example="""
name: Example
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity: {capacity_block: cr-0123456789abcdef0}
""",
)
def block_ends(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever uses a Capacity Block should know its end."""
    if plan.capacity.kind is not CapacityKind.CAPACITY_BLOCK:
        return
    block, orchestrator = plan.capacity.reservation_id, plan.orchestrator
    if isinstance(orchestrator, BatchPlan):
        hours = plan.spec.job.timeout_hours
        message = f"jobs may run {hours} hours, and end with {block}"
        remedy = "submit a job so that it ends before"
    else:
        message = f"the cluster can be deployed while {block} is active, and ends with it"
        remedy = "deploy after it begins, and destroy the cluster before it ends"
    yield Violation(
        path=("capacity",),
        message=f"{message}: EC2 terminates its instances from 30 minutes before its end on",
        remedy=f"{remedy}, and write checkpoints to a file system or a bucket",
    )


@rule(
    "TS-CAP-005",
    title="Nodes of a reservation may be far from each other",
    why="""
AWS Batch's page on EFA asks for one cluster placement group for all instances that use EFA. Only
a reservation that was made in such a group can be launched into one; any other may be spread over
the zone, and collectives between its nodes are slower. Capacity Blocks need no group.
""",
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html",
        "https://docs.aws.amazon.com/batch/latest/userguide/efa.html",
    ),
    example="""
name: Example
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity: {reservation: cr-0123456789abcdef0}
""",
)
def reservation_without_group(plan: ClusterPlan) -> Iterator[Violation]:
    """Nodes that use EFA belong close to each other."""
    capacity = plan.capacity
    several = plan.spec.instance.nodes.max > 1 and plan.instance.efa_interfaces_max
    if capacity.kind is CapacityKind.RESERVATION and several and not capacity.placement_group_name:
        yield Violation(
            path=("capacity",),
            message=f"nothing says that {capacity.reservation_id} was made in a cluster placement "
            "group, so its nodes may be far from each other",
            remedy="make the reservation in a cluster placement group and name the group in "
            "capacity.placement_group",
        )


@rule(
    "TS-CAP-006",
    title="Nodes are billed while no job runs",
    why="""
`instance.nodes.min` nodes, and with orchestrator `ec2` all of them, run from the deployment until
the cluster is destroyed.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html",
        "https://aws.amazon.com/ec2/pricing/on-demand/",
    ),
    example="""
name: Example
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {min: 1, max: 4}}
""",
)
def idle_nodes(plan: ClusterPlan) -> Iterator[Violation]:
    """Whoever keeps nodes should know that they cost."""
    nodes = plan.spec.instance.nodes
    on_batch = isinstance(plan.orchestrator, BatchPlan)
    kept = nodes.min if on_batch else nodes.max
    if kept and plan.capacity.kind is CapacityKind.ON_DEMAND:
        yield Violation(
            path=("instance", "nodes", "min") if on_batch else ("orchestrator",),
            message=f"{kept} of {plan.instance.name} run, and are billed, while no job runs",
            remedy="set instance.nodes.min to 0"
            if on_batch
            else "destroy the cluster when it has no work, or use orchestrator batch",
        )


@fleet_rule(
    "TS-CAP-007",
    title="A reservation must hold the nodes of all clusters that name it",
    why="""
A node launches only while its reservation or Capacity Block has an instance free, of the same
type and in the same zone. All nodes of a job launch at once, or the job waits.
""",
    severity=Severity.INFO,
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-overview.html",
        _BLOCKS,
    ),
    example="""
name: Example
region: us-west-2
zone: usw2-az4
instance: {type: trn1.32xlarge, nodes: {max: 4}}
capacity: {reservation: cr-0123456789abcdef0, placement_group: example}
""",
)
def reservation_size(plan: ClusterPlan, fleet: Fleet) -> Iterator[Violation]:
    """A reservation has room for every cluster that names it."""
    reservation = plan.capacity.reservation_id
    if reservation is None:
        return
    users = [each for each in fleet.clusters if each.capacity.reservation_id == reservation]
    nodes = sum(each.spec.instance.nodes.max for each in users)
    others = [each.spec.name for each in users if each.spec.name != plan.spec.name]
    shared = f", for {', '.join(others)} and this cluster at once" if others else ""
    yield Violation(
        path=("capacity",),
        message=f"{reservation} must be for {plan.instance.name} in {plan.zone.name}, and have "
        f"{nodes} instances{shared}",
        remedy="compare it: aws ec2 describe-capacity-reservations --capacity-reservation-ids "
        f"{reservation} --region {plan.region}",
    )
