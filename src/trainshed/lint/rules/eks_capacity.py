"""Capacity of managed node groups of EKS: blocks, and how many nodes there are."""

from collections.abc import Iterator

from trainshed.findings import Severity, Violation, rule
from trainshed.lint.eks_of_template import ManagedNodes, managed_nodes
from trainshed.lint.examples import resources_example
from trainshed.lint.judging import in_files
from trainshed.lint.read import read

_BLOCK = "capacity-block"


@rule(
    "TS-EKS-038",
    title="A node group for a Capacity Block lacks what EKS wants",
    severity=Severity.ERROR,
    why="""
For a Capacity Block EKS wants `CapacityType: CAPACITY_BLOCK`, one subnet, which is in the zone of
the block, and in the launch template the market type `capacity-block`, the id of the block and the
instance type. It rejects the node group if one is missing.
""",
    sources=("https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",),
    over=in_files(managed_nodes),
    example=resources_example("""
  Nodes:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        InstanceType: p5.48xlarge
        InstanceMarketOptions: {MarketType: capacity-block}
        CapacityReservationSpecification:
          CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}
  Train:
    Type: AWS::EKS::Nodegroup
    Properties:
      ClusterName: example
      NodeRole: arn:aws:iam::123456789012:role/nodes
      Subnets: [subnet-11111111]
      AmiType: AL2023_x86_64_NVIDIA
      LaunchTemplate: {Id: !Ref Nodes, Version: !GetAtt Nodes.LatestVersionNumber}
"""),
)
def form_of_a_block(nodes: ManagedNodes) -> Iterator[Violation]:
    """A Capacity Block is named in the form that EKS takes."""
    resource, data = nodes.resource, nodes.data
    asked = read(resource.get("CapacityType").text())
    block = asked is not None and asked.value == "CAPACITY_BLOCK"
    market = read(data.get("InstanceMarketOptions", "MarketType").text())
    in_template = market is not None and market.value == _BLOCK
    if not block and not in_template:
        return
    target = data.get("CapacityReservationSpecification", "CapacityReservationTarget")
    missing = [
        what
        for there, what in (
            (block, "CapacityType: CAPACITY_BLOCK of the node group"),
            (in_template, f"InstanceMarketOptions: {{MarketType: {_BLOCK}}}"),
            (target.get("CapacityReservationId"), "the CapacityReservationId of the block"),
            (data.get("InstanceType"), "InstanceType in the launch template"),
        )
        if not there
    ]
    named = asked if block else market
    if missing:
        yield Violation(
            path=named.path if named else nodes.group.path,
            message=f"{resource.logical_id} is for a Capacity Block, and lacks "
            f"{', '.join(missing)}: EKS rejects it",
            remedy="add what is missing",
        )
    subnets = read(resource.get("Subnets").entries())
    if subnets and len(subnets.value) > 1:
        yield Violation(
            path=subnets.path,
            message=f"{resource.logical_id} is for a Capacity Block, which is in one zone, and "
            f"names {len(subnets.value)} subnets",
            remedy="name only the subnet in the zone of the block",
        )


@rule(
    "TS-EKS-039",
    title="Each change of the node group sets the number of nodes",
    severity=Severity.INFO,
    why="""
`DesiredSize` is how many nodes there are now, not how many there may be: when CloudFormation
updates the node group with another number than an autoscaler or a person has set, nodes are added,
or ended with the pods on them. EKS wants all three sizes when it makes the group. Removing
`DesiredSize` later changes nothing on the nodes.
""",
    sources=(
        "https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html",
    ),
    over=in_files(managed_nodes),
    example=resources_example("""
  Train:
    Type: AWS::EKS::Nodegroup
    Properties:
      ClusterName: example
      NodeRole: arn:aws:iam::123456789012:role/nodes
      Subnets: [subnet-11111111]
      ScalingConfig: {MinSize: 0, DesiredSize: 4, MaxSize: 8}
"""),
)
def desired_size(nodes: ManagedNodes) -> Iterator[Violation]:
    """Who scales should not be overruled."""
    sizes = nodes.resource.get("ScalingConfig")
    wanted = read(sizes.get("DesiredSize").whole())
    least, most = read(sizes.get("MinSize").whole()), read(sizes.get("MaxSize").whole())
    if wanted and least and most and least.value != most.value:
        yield Violation(
            path=wanted.path,
            message=f"{nodes.resource.logical_id} may have {least.value} to {most.value} nodes, "
            f"and DesiredSize {wanted.value}, which a later update may set again",
            remedy="remove DesiredSize after the first deployment",
        )
