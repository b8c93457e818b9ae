"""Spot and Capacity Blocks, with eksctl and ParallelCluster."""

from collections.abc import Iterator

from trainshed.checks.rule import Basis, RuleFacts
from trainshed.lint.examples import eksctl_example, slurm_example
from trainshed.lint.model import Document, Kind
from trainshed.lint.parallelcluster import QueueNodes
from trainshed.lint.rule import Violation, decided, lint_rule
from trainshed.lint.tool_groups import Group, has_efa, tool_groups


@lint_rule(
    RuleFacts(
        id="TS-GRP-004",
        title="Spot nodes share a job over EFA",
        why="""
EFA is for jobs over several nodes. When EC2 takes back one Spot instance, the job of all of them
ends, and starts again from its last checkpoint when there is a node to replace it.
""",
        basis=Basis.INFERRED,
        sources=(
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-interruptions.html",
            "https://github.com/aws/aws-parallelcluster/issues/2346",
        ),
    ),
    over=tool_groups,
    examples={
        Kind.EKSCTL: eksctl_example(
            """
            managedNodeGroups:
              - {name: train, instanceType: p5.48xlarge, efaEnabled: true, spot: true}
            """
        ),
        Kind.PARALLELCLUSTER: slurm_example(
            "InstanceType: p5.48xlarge, Efa: {Enabled: true}",
            "CapacityType: SPOT",
            "Networking: {SubnetIds: [subnet-1], PlacementGroup: {Enabled: true}}",
        ),
    },
)
def spot_with_efa(group: Group, document: Document) -> Iterator[Violation]:
    """Jobs over several nodes do not survive the loss of one."""
    purchase, nodes = decided(group.purchase), decided(group.nodes)
    if not purchase or purchase.value != "spot" or not has_efa(group):
        return
    if nodes and nodes.value > 1:
        yield Violation(
            path=purchase.path,
            message=f"{group.name} has EFA and up to {nodes.value} Spot nodes: a job ends when "
            "EC2 takes back one of them",
            remedy="buy on demand, or use a Capacity Block; on Spot, write checkpoints often",
        )


@lint_rule(
    RuleFacts(
        id="TS-GRP-005",
        title="A placement group keeps nodes out of a Capacity Block",
        why="""
The instances of a Capacity Block are placed close to each other already. Launched into a placement
group they must also be where the group is, so fewer of them than were bought can start.
""",
        sources=(
            "https://github.com/eksctl-io/eksctl/issues/7949",
            "https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html",
        ),
    ),
    over=tool_groups,
    examples={
        Kind.EKSCTL: eksctl_example(
            """
            managedNodeGroups:
              - name: train
                instanceType: p5.48xlarge
                efaEnabled: true
                instanceMarketOptions: {marketType: capacity-block}
                placement: {groupName: example}
            """
        ),
        Kind.PARALLELCLUSTER: slurm_example(
            "InstanceType: p5.48xlarge, MinCount: 4, MaxCount: 4",
            "CapacityType: CAPACITY_BLOCK",
            "CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}",
            "Networking: {SubnetIds: [subnet-1], PlacementGroup: {Enabled: true}}",
        ),
    },
)
def placement_group_of_a_block(group: Group, document: Document) -> Iterator[Violation]:
    """A Capacity Block needs no placement group."""
    purchase = decided(group.purchase)
    if not purchase or purchase.value != "capacity-block":
        return
    if placement := decided(group.placement_group):
        named = isinstance(group, QueueNodes) or placement.path[-1] == "groupName"
        yield Violation(
            path=placement.path,
            message=f"{group.name} is in a Capacity Block, and in a placement group"
            + ("" if named else ", which eksctl makes for every self-managed group with EFA"),
            remedy="leave the placement group out"
            if named
            else "make it a managed group, for which eksctl makes none beside a reservation",
        )
