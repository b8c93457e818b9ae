"""Whether a Capacity Block has the nodes when jobs want them."""

from collections.abc import Iterator

from trainshed.catalogue.capacity_blocks import NODES_MAX
from trainshed.checks import clusters
from trainshed.findings import Basis, Severity, Violation, rule
from trainshed.orchestrators import Orchestrator, traits
from trainshed.plan import CapacityKind, ClusterPlan

_BLOCKS = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html"


@rule(
    "TS-CAP-002",
    over=clusters,
    title="The largest job has more nodes than a Capacity Block",
    why="""
A Capacity Block has at most 64 instances. A job of more nodes on a cluster that names one block
waits in `RUNNABLE` for ever. A resource group may have several blocks.
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
    nodes = plan.nodes.max
    in_one_block = (
        plan.capacity.kind is CapacityKind.CAPACITY_BLOCK and plan.capacity.reservation_id
    )
    if in_one_block and nodes > NODES_MAX:
        yield Violation(
            path=("instance", "nodes", "max"),
            message=f"a job may have {nodes} nodes, and a Capacity Block has at most "
            f"{NODES_MAX} instances",
            remedy=f"set instance.nodes.max to the size of the block, at most {NODES_MAX}, "
            "or name a resource group of several blocks",
        )


@rule(
    "TS-CAP-003",
    over=clusters,
    orchestrators=(Orchestrator.BATCH,),
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
    nodes, block = plan.nodes.min, plan.capacity.target
    in_block = plan.capacity.kind is CapacityKind.CAPACITY_BLOCK
    if in_block and nodes:
        yield Violation(
            path=("instance", "nodes", "min"),
            message=f"AWS Batch keeps {nodes} nodes at all times, but {block} begins at one time "
            "and ends at another: outside of it launches fail",
            remedy="set instance.nodes.min to 0; jobs that are submitted before the block begins "
            "wait for it",
        )


@rule(
    "TS-CAP-004",
    over=clusters,
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
    block = plan.capacity.target
    if traits(plan.orchestrator).keeps_nodes:
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
