"""A guard against losing sight of data: no replacement of a file system without consent."""

from collections.abc import Mapping
from pathlib import Path

from aws_cdk import Aws, CustomResource, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

_HANDLER = Path(__file__).parent / "handlers" / "replacement_guard.py"


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
        self.resource = CustomResource(
            self,
            "Resource",
            resource_type="Custom::ReplacementGuard",
            service_token=self._function().function_arn,
            service_timeout=Duration.minutes(2),
            properties={
                "FileSystem": {name: value for name, value in properties.items() if value},
                "AllowReplacement": allow_replacement,
                "HowToAllow": how_to_allow,
            },
        )

    def _function(self) -> lambda_.Function:
        log_group = logs.LogGroup(
            self,
            "Log",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        # Not the managed AWSLambdaBasicExecutionRole, which may write every log of the account.
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={
                "OwnStackAndLog": iam.PolicyDocument(
                    statements=[
                        iam.PolicyStatement(
                            actions=["cloudformation:DescribeStacks"], resources=[Aws.STACK_ID]
                        ),
                        iam.PolicyStatement(
                            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
                            resources=[log_group.log_group_arn],
                        ),
                    ]
                )
            },
        )
        return lambda_.Function(
            self,
            "Function",
            description="Stops updates that would replace a file system",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler="index.handler",
            # Inline, because only then Lambda adds the module cfnresponse, and no asset is needed.
            code=lambda_.Code.from_inline(_HANDLER.read_text(encoding="utf-8")),
            role=role,
            log_group=log_group,
            timeout=Duration.seconds(30),
        )
