"""The name of the Auto Scaling group that EKS makes for a managed node group."""

from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_resource import inline_resource


class ScalingGroupName(Construct):
    """Finds how EKS has called the Auto Scaling group of a managed node group.

    CloudFormation does not say it (AWS::EKS::Nodegroup, "Return values"), and the metrics of the
    group go by it. A custom resource asks EKS, again whenever the node group is replaced.

    Attributes:
        group_name: the name.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_eks as eks
        from trainshed_constructs import ScalingGroupName

        stack = Stack(App(), "Compute")
        group = eks.CfnNodegroup(
            stack,
            "Nodes",
            cluster_name="train",
            node_role="arn:aws:iam::123456789012:role/node",
            subnets=["subnet-0123456789abcdef0"],
        )
        ScalingGroupName(stack, "NodesName", cluster_name="train", node_group=group)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        node_group: eks.CfnNodegroup,
    ) -> None:
        """Declare the question.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster_name: of the EKS cluster.
            node_group: the node group.
        """
        super().__init__(scope, construct_id)
        resource = inline_resource(
            self,
            name="scaling_group_name",
            description="Says how EKS has called the Auto Scaling group of a node group",
            statements=[
                iam.PolicyStatement(
                    actions=["eks:DescribeNodegroup"], resources=[node_group.attr_arn]
                )
            ],
            properties={
                "ClusterName": cluster_name,
                "NodegroupName": node_group.attr_nodegroup_name,
            },
        )
        self.group_name = resource.get_att_string("Name")
