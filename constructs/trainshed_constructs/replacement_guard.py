"""A guard against losing sight of data: no replacement of a file system without consent."""

from collections.abc import Mapping

from aws_cdk import Aws, CustomResource, Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed_constructs.inline_function import inline_function


class ReplacementGuard(Construct):
    """Fails an update that would replace what depends on it.

    CloudFormation replaces a file system when certain properties change: it makes a new, empty
    one and forgets, or deletes, the old. A change set that says so is easily overlooked, so this
    custom resource compares the properties with those deployed before, and fails the update with
    the names of those that changed. What it guards must depend on it:
    `file_system.node.add_dependency(guard)`.

    Its function may write its log and look at the stack's status, which tells it a rollback, that
    brings the old values back, from an update.

    Attributes:
        resource: the custom resource.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import ReplacementGuard

        stack = Stack(App(), "Storage")
        ReplacementGuard(
            stack,
            "Guard",
            properties={"SubnetIds": ["subnet-0123456789abcdef0"], "StorageCapacity": 1200},
            allow_replacement=False,
            how_to_allow="LustrePlan(allow_replacement=True)",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        properties: Mapping[str, object],
        allow_replacement: bool,
        how_to_allow: str,
    ) -> None:
        """Declare the guard.

        Args:
            scope: parent.
            construct_id: id within the parent.
            properties: the file system's that cannot change in place, StorageCapacity (GiB, which
                may grow) among them.
            allow_replacement: let every change pass.
            how_to_allow: what to set, for the message.
        """
        super().__init__(scope, construct_id)
        function = inline_function(
            self,
            module="replacement_guard",
            description="Stops updates that would replace a file system",
            statements=[
                iam.PolicyStatement(
                    actions=["cloudformation:DescribeStacks"], resources=[Aws.STACK_ID]
                )
            ],
            timeout=Duration.seconds(30),
        )
        self.resource = CustomResource(
            self,
            "Resource",
            resource_type="Custom::ReplacementGuard",
            service_token=function.function_arn,
            service_timeout=Duration.minutes(2),
            properties={
                "FileSystem": {name: value for name, value in properties.items() if value},
                "AllowReplacement": allow_replacement,
                "HowToAllow": how_to_allow,
            },
        )
