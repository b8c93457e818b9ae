"""Termination protection that ends when the stack's creation fails."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from trainshed_constructs.custom_resources.inline_resource import inline_resource


class UnprotectOnRollback(Construct):
    """Lets a protected stack whose creation failed be deployed again.

    The CDK CLI protects a stack before it creates its resources. A creation that fails leaves the
    stack in ROLLBACK_COMPLETE, without resources; CloudFormation can only delete such a stack,
    and the CLI does so at the next deployment. Protection would stop it. So this custom resource
    ends the protection while CloudFormation rolls the creation back, which it allows in every
    status but DELETE_IN_PROGRESS and DELETE_COMPLETE (CloudFormation user guide, "Protect
    CloudFormation stacks from being deleted"). A rollback of an update leaves it alone.

    Everything in the stack must wait for it, or else a creation may fail before it is there:
    see `before`.

    Its function may write its log, and look at and unprotect its own stack.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_sns as sns
        from trainshed_constructs import UnprotectOnRollback

        stack = Stack(App(), "Storage", termination_protection=True)
        topic = sns.Topic(stack, "Topic")
        UnprotectOnRollback(stack, "Protection").before(topic)
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        """Declare the custom resource.

        Args:
            scope: the protected stack.
            construct_id: id within the stack.
        """
        super().__init__(scope, construct_id)
        self._resource = inline_resource(
            self,
            name="unprotect_on_rollback",
            description="Ends termination protection when the stack's creation fails",
            statements=[
                iam.PolicyStatement(
                    actions=[
                        "cloudformation:DescribeStacks",
                        "cloudformation:UpdateTerminationProtection",
                    ],
                    resources=[Aws.STACK_ID],
                )
            ],
        )

    def before(self, *constructs: IConstruct) -> None:
        """Have CloudFormation create constructs after this, and delete them before it."""
        for construct in constructs:
            construct.node.add_dependency(self._resource)
