"""Capacity Blocks, with ParallelCluster."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.examples import slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.parallelcluster import QueueNodes, slurm_nodes
from trainshed.lint.read import read

_BLOCKS = (
    "https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html"
)
_VALIDATORS = "https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/validators/"


@rule(
    "TS-PCL-005",
    title="The counts of a Capacity Block are not equal",
    severity=Severity.ERROR,
    why="""
ParallelCluster manages the nodes of a Capacity Block as static ones: `MinCount` and `MaxCount` must
be equal, and more than 0.
""",
    sources=(_BLOCKS, f"{_VALIDATORS}cluster_validators.py"),
    over=in_files(slurm_nodes),
    example=slurm_example(
        "InstanceType: p5.48xlarge, MaxCount: 4",
        "CapacityType: CAPACITY_BLOCK",
        "CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}",
    ),
)
def block_counts(nodes: QueueNodes) -> Iterator[Violation]:
    """A Capacity Block has a fixed number of nodes."""
    if not _in_block(nodes):
        return
    least, most = read(nodes.nodes_min), read(nodes.nodes)
    if least and most and (least.value != most.value or not least.value):
        yield Violation(
            path=least.path,
            message=f"{nodes.name} is in a Capacity Block, with MinCount {least.value} and "
            f"MaxCount {most.value}",
            remedy="set both to the number of instances in the block",
        )


@rule(
    "TS-PCL-006",
    title="A queue for a Capacity Block names no block",
    severity=Severity.ERROR,
    why="""
With `CapacityType: CAPACITY_BLOCK` ParallelCluster asks for the id of the block, in
`CapacityReservationTarget` of the queue or of the compute resource.
""",
    sources=(_BLOCKS, f"{_VALIDATORS}ec2_validators.py"),
    over=in_files(slurm_nodes),
    example=slurm_example(
        "InstanceType: p5.48xlarge, MinCount: 4, MaxCount: 4",
        "CapacityType: CAPACITY_BLOCK",
    ),
)
def block_not_named(nodes: QueueNodes) -> Iterator[Violation]:
    """Capacity Blocks are launched into by their id."""
    if _in_block(nodes) and not read(nodes.reservation):
        yield Violation(
            path=nodes.path,
            message=f"{nodes.name} is for a Capacity Block, and names none",
            remedy="give CapacityReservationTarget: {CapacityReservationId: cr-...}",
        )


def _in_block(nodes: QueueNodes) -> bool:
    purchase = read(nodes.purchase)
    return bool(purchase and purchase.value == "capacity-block")
