"""A guard against changes that separate a network from what is in it."""

from collections.abc import Mapping, Sequence

from aws_cdk import Aws, CfnResource, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from trainshed_constructs.ami_pipeline.policy_size import check_policy_size
from trainshed_constructs.custom_resources.inline_resource import inline_resource
from trainshed_constructs.wildcards import own_arn

_HELP = "docs/operate.md"


class NetworkGuard(Construct):
    """Fails a deployment of a network's stack that other stacks stand in the way of.

    - What others import cannot go: the subnet of a zone, the group of a file system's clients.
      CloudFormation would say "Cannot delete export" after it has made what comes in its place.
    - A stack that is in another network cannot come: its file system would need to be a new one,
      its nodes would lose the file system they mount, and the other network would stay and bill.
    - A VPC whose address range changes cannot be replaced, because an internet gateway is in one
      VPC at a time.

    This custom resource says so before anything is made, with the stacks and the way to do it.
    What is in the network must depend on it: `before`.

    Its function may write its log, look at its own stack and at those that use the network, and
    list who imports what.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import NetworkGuard

        stack = Stack(App(), "Network")
        vpc = ec2.CfnVPC(stack, "Vpc", cidr_block="10.20.0.0/16")
        subnet = ec2.CfnSubnet(stack, "Private", vpc_id=vpc.ref, cidr_block="10.20.0.0/19")
        guard = NetworkGuard(
            stack,
            "Guard",
            vpc="10.20.0.0/16",
            exported={"zone usw2-az1": subnet},
            users=["Storage", "Compute"],
        )
        guard.before(vpc)
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: str,
        exported: Mapping[str, CfnResource],
        users: Sequence[str],
    ) -> None:
        """Declare the guard.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: address range of a new VPC, or the id of an existing one.
            exported: what other stacks use of the network, by what the message calls it.
            users: names of the stacks that are to be in the network, of this account and region.

        Raises:
            ConstructError: they are so many that the function's role cannot name them all.
        """
        super().__init__(scope, construct_id)
        stacks = [own_arn("cloudformation", f"stack/{user}/*") for user in users]
        statements = [
            iam.PolicyStatement(
                actions=["cloudformation:DescribeStacks"], resources=[Aws.STACK_ID]
            ),
            iam.PolicyStatement(
                actions=["cloudformation:DescribeStacks", "cloudformation:GetTemplate"],
                resources=stacks,
            ),
            iam.PolicyStatement(actions=["cloudformation:ListImports"], resources=["*"]),
        ]
        check_policy_size(self, statements, shorten_by="let fewer clusters share the network")
        stack = Stack.of(self)
        self._resource = inline_resource(
            self,
            name="network_guard",
            description="Stops deployments that would take a network away from what is in it",
            statements=statements,
            wildcards={
                "*": "cloudformation:ListImports takes no resource",
                **dict.fromkeys(stacks, "a stack gets its id when it is made"),
            },
            properties={
                "Vpc": vpc,
                # CDK names an export after the logical id of what it exports.
                "Exported": {
                    what: stack.get_logical_id(resource) for what, resource in exported.items()
                },
                "Users": list(users),
                "Help": _HELP,
            },
        )

    def before(self, *constructs: IConstruct) -> None:
        """Have CloudFormation make or change constructs after this."""
        for construct in constructs:
            construct.node.add_dependency(self._resource)
