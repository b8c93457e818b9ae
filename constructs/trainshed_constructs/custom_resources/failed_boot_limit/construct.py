"""A bound on how often nodes whose first boot fails are replaced."""

from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.wildcards import own_arn

_PATTERN = {
    "source": ["aws.ec2"],
    "detail-type": ["EC2 Instance State-change Notification"],
    "detail": {"state": ["stopped", "terminated"]},
}


class FailedBootLimit(Construct):
    """Disables a compute environment when too many of its nodes power themselves off.

    A node whose first boot fails powers off and is replaced, while its job waits: for ever, when
    the AMI or the file system is broken. A function sees each instance end, knows by EC2's
    `StateReason` (`Client.InstanceInitiatedShutdown`) which powered themselves off, and at `limit`
    of them in `hours` disables the compute environment: jobs that run go on, and no node is
    launched any more. Its log has what the nodes said on their consoles, and the command that
    enables the environment again; the metric `NodesPoweredOff` (namespace `trainshed/boots`,
    dimension `Cluster`) counts the nodes. The nodes themselves need no permissions for that,
    and their AMI no program.

    Follows the EC2 user guide, "State change events for your instances", and the AWS Batch API
    reference, UpdateComputeEnvironment: a disabled environment does not scale out, but keeps its
    minimum of vCPUs, which is therefore set to zero.

    Attributes:
        function: the function; its log says what happened.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import FailedBootLimit

        stack = Stack(App(), "Compute")
        FailedBootLimit(
            stack,
            "FailedBoots",
            cluster="TrainCluster",
            compute_environment_arn="arn:aws:batch:us-west-2:123456789012:compute-environment/x",
            min_vcpus=0,
            limit=3,
            hours=3,
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str,
        compute_environment_arn: str,
        min_vcpus: int,
        limit: int,
        hours: int,
    ) -> None:
        """Declare the function and the rule that calls it.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: value of the tag `trainshed:cluster` on the nodes.
            compute_environment_arn: what to disable.
            min_vcpus: its minimum of vCPUs.
            limit: at how many nodes that powered themselves off it is disabled.
            hours: in how many hours they are counted.
        """
        super().__init__(scope, construct_id)
        self.function = inline_function(
            self,
            name="failed_boot_limit",
            description="Disables a compute environment whose nodes keep powering themselves off",
            statements=_statements(cluster, compute_environment_arn),
            wildcards={
                "*": "these actions take no resource (Service Authorization Reference)",
                own_arn("ec2", "instance/*"): "AWS Batch launches the instances; the condition "
                "admits those of this cluster only",
            },
            timeout=minutes(1),
            environment={
                "CLUSTER": cluster,
                "ENVIRONMENT": compute_environment_arn,
                "HOURS": str(hours),
                "LIMIT": str(limit),
                "MIN_VCPUS": str(min_vcpus),
            },
        )
        # L1: the L2 targets come in one module that loads every service which can be one.
        rule = events.CfnRule(
            self,
            "Ended",
            description="An instance was stopped or terminated",
            event_pattern=_PATTERN,
            targets=[events.CfnRule.TargetProperty(id="Function", arn=self.function.function_arn)],
        )
        lambda_.CfnPermission(
            self,
            "LetEventBridgeIn",
            action="lambda:InvokeFunction",
            function_name=self.function.function_name,
            principal="events.amazonaws.com",
            source_arn=rule.attr_arn,
        )


def _statements(cluster: str, compute_environment_arn: str) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(
            sid="FindOutWhy",
            actions=["cloudwatch:GetMetricStatistics", "ec2:DescribeInstances"],
            resources=["*"],
        ),
        iam.PolicyStatement(
            sid="Count",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": "trainshed/boots"}},
        ),
        iam.PolicyStatement(
            sid="ReadConsoles",
            actions=["ec2:GetConsoleOutput"],
            resources=[own_arn("ec2", "instance/*")],
            conditions={"StringEquals": {"aws:ResourceTag/trainshed:cluster": cluster}},
        ),
        iam.PolicyStatement(
            sid="Disable",
            actions=["batch:UpdateComputeEnvironment"],
            resources=[compute_environment_arn],
        ),
    ]
