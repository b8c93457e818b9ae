"""A guard against taking a network away from what is in it."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Aws, CfnResource, CustomResource, Duration, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.inline_function import inline_function

_HELP = "docs/operate.md"


class NetworkGuard(Construct):
    """Fails an update that other stacks stand in the way of, and says which and what to do.

    CloudFormation deletes the subnets of a zone that is no longer in use. While another stack
    imports them it cannot: the update ends in "Cannot delete export", after new gateways have been
    made. A VPC whose address range changes it cannot replace at all, because an internet gateway
    is in one VPC at a time. This custom resource fails both before anything is made. The VPC must
    depend on it: `before`.

    Its function may write its log, look at its own stack, and list exports and their users.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import NetworkGuard

        stack = Stack(App(), "Network")
        vpc = ec2.CfnVPC(stack, "Vpc", cidr_block="10.20.0.0/16")
        subnet = ec2.CfnSubnet(stack, "Private", vpc_id=vpc.ref, cidr_block="10.20.0.0/19")
        guard = NetworkGuard(
            stack, "Guard", cidr="10.20.0.0/16", subnets={"usw2-az1": subnet}
        )
        guard.before(vpc)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cidr: str,
        subnets: Mapping[str, ec2.CfnSubnet],
    ) -> None:
        """Declare the guard.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cidr: address range of the VPC.
            subnets: the subnet that other stacks use, by zone.
        """
        super().__init__(scope, construct_id)
        function = inline_function(
            self,
            module="network_guard",
            description="Stops updates that would take a network away from what is in it",
            statements=[
                iam.PolicyStatement(
                    actions=["cloudformation:DescribeStacks"], resources=[Aws.STACK_ID]
                ),
                iam.PolicyStatement(
                    actions=["cloudformation:ListExports", "cloudformation:ListImports"],
                    resources=["*"],
                ),
            ],
            timeout=Duration.minutes(1),
        )
        assert function.role
        Validations.of(function.role.node.find_child("Resource")).acknowledge(
            Acknowledgment(
                id="AwsSolutions-IAM5[Resource::*]", reason="these actions take no resource"
            )
        )
        self._resource = CustomResource(
            self,
            "Resource",
            resource_type="Custom::NetworkGuard",
            service_token=function.function_arn,
            service_timeout=Duration.minutes(2),
            properties={
                "Cidr": cidr,
                # CDK names an export after the logical id of what it exports.
                "Zones": {
                    zone: subnet.stack.get_logical_id(subnet) for zone, subnet in subnets.items()
                },
                "Help": _HELP,
            },
        )

    def before(self, resource: CfnResource) -> None:
        """Have CloudFormation change a resource after this."""
        resource.node.add_dependency(self._resource)
