"""How the nodes of eksctl and ParallelCluster are bought."""

from collections.abc import Iterator

from trainshed.findings import Basis, Violation, rule
from trainshed.lint.examples import eksctl_example, slurm_example
from trainshed.lint.judging import in_files
from trainshed.lint.read import read
from trainshed.lint.tool_groups import Group, has_efa, tool_groups


@rule(
    "TS-GRP-004",
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
    over=in_files(tool_groups),
    example=eksctl_example("""
        managedNodeGroups:
          - {name: train, instanceType: p5.48xlarge, efaEnabled: true, spot: true}
    """)
    | slurm_example(
        "InstanceType: p5.48xlarge, Efa: {Enabled: true}",
        "CapacityType: SPOT",
        "Networking: {SubnetIds: [subnet-1], PlacementGroup: {Enabled: true}}",
    ),
)
def spot_with_efa(group: Group) -> Iterator[Violation]:
    """Jobs over several nodes do not survive the loss of one."""
    purchase = read(group.purchase)
    if not purchase or purchase.value != "spot" or not has_efa(group):
        return
    nodes = read(group.nodes)
    if nodes and nodes.value > 1:
        yield Violation(
            path=purchase.path,
            message=f"{group.name} has EFA and up to {nodes.value} Spot nodes: a job ends when "
            "EC2 takes back one of them",
            remedy="buy on demand, or use a Capacity Block; on Spot, write checkpoints often",
        )
