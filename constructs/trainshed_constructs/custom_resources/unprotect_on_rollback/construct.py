"""Termination protection that ends when the stack's creation fails."""

from aws_cdk import Aws, CustomResource, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.custom_resources.inline_resource import resource_of

_NAME = "unprotect_on_rollback"


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

    def __init__(
        self, scope: Construct, construct_id: str, *, eks_cluster: str | None = None
    ) -> None:
        """Declare the custom resource.

        Args:
            scope: the protected stack.
            construct_id: id within the stack.
            eks_cluster: name of a cluster of EKS in the stack, which is protected itself: see
                `after_cluster`. By default there is none.
        """
        super().__init__(scope, construct_id)
        self._eks_cluster = eks_cluster
        self._function = inline_function(
            self,
            name=_NAME,
            description="Ends termination protection when the stack's creation fails",
            statements=[
                iam.PolicyStatement(
                    actions=[
                        "cloudformation:DescribeStacks",
                        "cloudformation:UpdateTerminationProtection",
                    ],
                    resources=[Aws.STACK_ID],
                ),
                *(_cluster_statements(scope, eks_cluster) if eks_cluster else ()),
            ],
            timeout=minutes(1),
        )
        self._resource = resource_of(self, "Resource", name=_NAME, function=self._function)

    def after_cluster(self, cluster: IConstruct) -> CustomResource:
        """Have the deletion protection of the cluster end, too.

        Everything that comes after the cluster must wait for what this returns: CloudFormation
        creates it right after the cluster, and so deletes it right before.

        Args:
            cluster: the resource of the cluster.
        """
        released = resource_of(
            self,
            "Cluster",
            name=_NAME,
            function=self._function,
            properties={"EksCluster": self._eks_cluster},
        )
        released.node.add_dependency(cluster)
        return released

    def before(self, *constructs: IConstruct) -> None:
        """Have CloudFormation create constructs after this, and delete them before it."""
        for construct in constructs:
            construct.node.add_dependency(self._resource)


def _cluster_statements(scope: Construct, name: str) -> list[iam.PolicyStatement]:
    arn = Stack.of(scope).format_arn(service="eks", resource="cluster", resource_name=name)
    return [
        iam.PolicyStatement(
            actions=["eks:DescribeUpdate", "eks:UpdateClusterConfig"], resources=[arn]
        )
    ]
