"""Placement groups and subnets, with ParallelCluster."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.examples import slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.model import Unknown
from trainshed.lint.parallelcluster import QueueNodes, slurm_nodes
from trainshed.lint.read import NotDecided, read
from trainshed.lint.tool_groups import has_efa

_SCHEDULING = "https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html"
_VALIDATORS = "https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/validators/"


@rule(
    "TS-PCL-001",
    title="A compute resource with EFA does not say whether it has a placement group",
    severity=Severity.ERROR,
    why="""
ParallelCluster refuses a compute resource with EFA that neither names, turns on nor turns off its
placement group. With a Capacity Block, which is placed already, it asks for nothing.
""",
    sources=(_SCHEDULING, f"{_VALIDATORS}cluster_validators.py"),
    over=in_files(slurm_nodes),
    example=slurm_example(
        "InstanceType: p5.48xlarge, Efa: {Enabled: true}", "Networking: {SubnetIds: [subnet-1]}"
    ),
)
def placement_group_not_said(nodes: QueueNodes) -> Iterator[Violation]:
    """With EFA the placement group must be explicit."""
    if _placed_by_group(nodes) and not read(nodes.placement) and nodes.efa:
        yield Violation(
            path=nodes.efa.path,
            message=f"{nodes.name} has EFA, and says nothing of a placement group: ParallelCluster "
            "refuses that",
            remedy="set Networking: {PlacementGroup: {Enabled: true}}",
        )


@rule(
    "TS-PCL-002",
    title="The placement group of a compute resource with EFA is off",
    why="""
Nodes outside of a cluster placement group may be far from each other in the zone, and collectives
between them are slower. Nothing fails.
""",
    sources=(_SCHEDULING, f"{_VALIDATORS}cluster_validators.py"),
    over=in_files(slurm_nodes),
    example=slurm_example(
        "InstanceType: p5.48xlarge, Efa: {Enabled: true}",
        "Networking: {SubnetIds: [subnet-1], PlacementGroup: {Enabled: false}}",
    ),
)
def placement_group_off(nodes: QueueNodes) -> Iterator[Violation]:
    """Nodes that use EFA belong close to each other."""
    placement = read(nodes.placement)
    if _placed_by_group(nodes) and placement and not placement.value:
        yield Violation(
            path=placement.path,
            message=f"{nodes.name} has EFA, and its placement group is off",
            remedy="set PlacementGroup: {Enabled: true}, unless a reservation places the nodes",
        )


def _placed_by_group(nodes: QueueNodes) -> bool:
    purchase = read(nodes.purchase)
    return has_efa(nodes) and not (purchase and purchase.value == "capacity-block")


@rule(
    "TS-PCL-003",
    title="A queue with EFA has several subnets",
    severity=Severity.INFO,
    why="""
EFA stays in one availability zone, so ParallelCluster refuses a queue with EFA whose subnets are in
several. The file alone does not say which zone a subnet is in.
""",
    sources=(_SCHEDULING, f"{_VALIDATORS}cluster_validators.py"),
    over=in_files(slurm_nodes),
    example=slurm_example(
        "InstanceType: p5.48xlarge, Efa: {Enabled: true}",
        "Networking: {SubnetIds: [subnet-1, subnet-2], PlacementGroup: {Enabled: true}}",
    ),
)
def several_subnets(nodes: QueueNodes) -> Iterator[Violation]:
    """A queue with EFA is in one zone."""
    subnets = read(nodes.subnets)
    if has_efa(nodes) and subnets and len(set(subnets.value)) > 1:
        raise NotDecided(
            Unknown(
                why=f"the zones of {', '.join(subnets.value)}, which must be one zone, because "
                f"{nodes.name} has EFA",
                path=subnets.path,
            )
        )
    yield from ()
