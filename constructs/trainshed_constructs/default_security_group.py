"""The rules of a VPC's default security group, which multi-node tasks of AWS Batch land in."""

from aws_cdk import CfnCustomResource, Duration, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from trainshed_constructs.inline_function import inline_function


class DefaultSecurityGroupRules(Construct):
    """Owns the rules of a VPC's default security group: itself, and HTTPS to anywhere.

    AWS Batch puts the awsvpc interfaces of a multi-node parallel job into the compute
    environment's security groups, and into the VPC's default group when it has none; it has none
    when the launch template carries the network interfaces (AWS Batch user guide, "Create a
    compute environment for multi-node parallel jobs"). So this group needs what containers need:
    all traffic from and to itself, and TCP 443 for ECR, S3, logs and the like. The VPC's resolver
    needs no rule.

    AWS gives a new default group two rules: everything from itself, everything to anywhere. A
    template cannot take them away, and the first would make our own a duplicate, which EC2
    refuses (InvalidPermission.Duplicate). A custom resource revokes both first, and puts them
    back when it is deleted. In a VPC that is in use, traffic through the group stops meanwhile,
    for seconds.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import DefaultSecurityGroupRules

        stack = Stack(App(), "Network")
        DefaultSecurityGroupRules(
            stack, "DefaultGroupRules", security_group_id="sg-0123456789abcdef0"
        )
    """

    def __init__(self, scope: Construct, construct_id: str, *, security_group_id: str) -> None:
        """Declare the rules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            security_group_id: the default group, for instance `CfnVPC.attr_default_security_group`.
        """
        super().__init__(scope, construct_id)
        function = self._function(security_group_id)
        # L1: the L2 CustomResource writes the seconds as text.
        aws_rules_gone = CfnCustomResource(
            self, "AwsRulesGone", service_token=function.function_arn, service_timeout=300
        )
        aws_rules_gone.add_property_override("GroupId", security_group_id)
        rules = (
            ec2.CfnSecurityGroupIngress(
                self,
                "FromItself",
                group_id=security_group_id,
                source_security_group_id=security_group_id,
                ip_protocol="-1",
                description="between the containers of a multi-node job",
            ),
            ec2.CfnSecurityGroupEgress(
                self,
                "ToItself",
                group_id=security_group_id,
                destination_security_group_id=security_group_id,
                ip_protocol="-1",
                description="between the containers of a multi-node job",
            ),
            ec2.CfnSecurityGroupEgress(
                self,
                "Https",
                group_id=security_group_id,
                cidr_ip="0.0.0.0/0",
                ip_protocol="tcp",
                from_port=443,
                to_port=443,
                description="AWS APIs, registries and data sets",
            ),
        )
        for rule in rules:
            rule.add_resource_dependency(aws_rules_gone)

    def _function(self, security_group_id: str) -> lambda_.Function:
        group_arn = Stack.of(self).format_arn(
            service="ec2", resource="security-group", resource_name=security_group_id
        )
        change_rules = iam.PolicyStatement(
            actions=[
                "ec2:AuthorizeSecurityGroupEgress",
                "ec2:AuthorizeSecurityGroupIngress",
                "ec2:RevokeSecurityGroupEgress",
                "ec2:RevokeSecurityGroupIngress",
            ],
            resources=[group_arn],
        )
        return inline_function(
            self,
            module="default_security_group",
            description="Takes AWS's own rules off a default security group",
            statements=[change_rules],
            timeout=Duration.minutes(1),
        )
