"""Placement of the nodes of one cluster close to each other."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class ClusterPlacementGroup(Construct):
    """Placement group of the cluster strategy: one zone, near each other, full bisection bandwidth.

    AWS Batch asks for one around all nodes that use EFA (AWS Batch user guide, "Elastic Fabric
    Adapter"). A Capacity Block is placed already, and a reservation made outside a group cannot be
    launched into one: there, leave it out.

    Attributes:
        placement_group: the group.
        name: its name, which EC2 makes; for `placementGroup` of a compute environment.

    Example::

        from aws_cdk import App, CfnOutput, Stack
        from trainshed_constructs import ClusterPlacementGroup

        stack = Stack(App(), "Compute")
        CfnOutput(stack, "Group", value=ClusterPlacementGroup(stack, "Placement").name)
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        """Declare the group.

        Args:
            scope: parent.
            construct_id: id within the parent.
        """
        super().__init__(scope, construct_id)
        self.placement_group = ec2.PlacementGroup(
            self, "Group", strategy=ec2.PlacementGroupStrategy.CLUSTER
        )
        self.name = self.placement_group.placement_group_name
