"""The rules of a VPC's default security group, which multi-node tasks of AWS Batch land in."""

from aws_cdk import CfnResource, Stack, Token
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.wildcards import acknowledge_wildcards, own_arn

_GROUP_ACTIONS = (
    "ec2:AuthorizeSecurityGroupEgress",
    "ec2:AuthorizeSecurityGroupIngress",
    "ec2:RevokeSecurityGroupEgress",
    "ec2:RevokeSecurityGroupIngress",
)
_ANY_RULE = "a rule gets its id when it is made; the group and the tag limit what is done"


class DefaultSecurityGroupRules(Construct):
    """Lets the members of a VPC's default security group reach each other, and HTTPS anywhere.

    AWS Batch puts the awsvpc interfaces of a multi-node parallel job into the compute
    environment's security groups, and into the VPC's default group when it has none; it has none
    when the launch template carries the network interfaces (AWS Batch user guide, "Create a
    compute environment for multi-node parallel jobs"). So this group needs what containers need:
    all traffic from and to itself, and TCP 443 for ECR, S3, logs and the like. The VPC's resolver
    needs no rule.

    A custom resource adds what is missing, because the group is there already and others may use
    it, too:

    - A rule that allows as much, or more, counts as present; nobody's rule is changed or revoked.
    - A rule that it adds has a tag `trainshed:needed-by:STACK` for each stack that needs it.
      Another stack adds its own, and the rule goes with the last of them: when the stack is
      deleted, rolled back, or changed to another group. Of two stacks where one is deployed in the
      same second in which the other is deleted, the first may be left without a rule.
    - With `close_egress`, for a VPC of this stack, egress to anywhere is revoked, which AWS gives
      every new default group. If it was open, it is open again afterwards; but not where somebody
      has revoked our rules in the meantime.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import DefaultSecurityGroupRules

        stack = Stack(App(), "Network")
        DefaultSecurityGroupRules(
            stack, "DefaultGroupRules", security_group_id="sg-0123456789abcdef0"
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        security_group_id: str,
        close_egress: bool = False,
    ) -> None:
        """Declare the rules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            security_group_id: the default group, for instance `CfnVPC.attr_default_security_group`.
            close_egress: revoke the rule that lets everything out; for a VPC that nobody else uses.
        """
        super().__init__(scope, construct_id)
        stack = Stack.of(self)
        tag = f"trainshed:needed-by:{stack.stack_name}"
        group_arn = stack.format_arn(
            service="ec2", resource="security-group", resource_name=security_group_id
        )
        # The group's ARN is what limits them; EC2 asks for the rule's as well when a rule is tagged
        # as it is made, or revoked by its id, which nobody can know.
        rules = own_arn("ec2", "security-group-rule/*")
        change = iam.PolicyStatement(actions=[*_GROUP_ACTIONS], resources=[group_arn, rules])
        # Such a group is deleted with its VPC.
        of_this_stack = Token.is_unresolved(security_group_id)
        function = inline_function(
            self,
            name="default_security_group",
            description="Gives a default security group the rules of multi-node tasks",
            statements=[
                iam.PolicyStatement(
                    # Takes no resource (Service Authorization Reference, Amazon EC2).
                    actions=["ec2:DescribeSecurityGroupRules"],
                    resources=["*"],
                ),
                *([change] if of_this_stack else []),
                iam.PolicyStatement(
                    actions=["ec2:CreateTags", "ec2:DeleteTags"],
                    resources=[rules],
                    # The second, because DeleteTags without keys would delete every tag.
                    conditions={
                        "ForAllValues:StringEquals": {"aws:TagKeys": [tag]},
                        "Null": {"aws:TagKeys": "false"},
                    },
                ),
            ],
            wildcards={
                "*": "ec2:DescribeSecurityGroupRules takes no resource",
                rules: _ANY_RULE,
            },
            timeout=minutes(2),
        )
        # L1: the L2 CustomResource writes the seconds as text.
        resource = CfnResource(
            self,
            "Rules",
            type="AWS::CloudFormation::CustomResource",
            properties={
                "ServiceTimeout": 300,
                "ServiceToken": function.function_arn,
                "GroupId": security_group_id,
                "Tag": tag,
                "CloseEgress": close_egress,
            },
        )
        if not of_this_stack:
            assert function.role
            # A policy for each group: after a change to another one, CloudFormation has the
            # function take back the rules of the former, and only then deletes its policy.
            policy = iam.Policy(self, security_group_id, roles=[function.role], statements=[change])
            acknowledge_wildcards(policy, {rules: _ANY_RULE})
            resource.node.add_dependency(policy)
