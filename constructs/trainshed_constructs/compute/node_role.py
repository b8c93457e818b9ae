"""What a node of a cluster may do: write logs and metrics, say how it booted, be reached."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed.ami.session_manager import session_actions
from trainshed_constructs.wildcards import acknowledge_wildcards, own_arn


class NodeRole(Construct):
    """Role and instance profile of the nodes of a cluster.

    Less than the managed policies AmazonEC2ContainerServiceforEC2Role and
    AmazonSSMManagedInstanceCore, which AWS Batch's guide and Session Manager's name: those write
    every log group, pull every image and read every SSM parameter of the account. Session Manager
    is there because a node has no public address and no SSH key: without it nobody can look at a
    node on which a job hangs.

    To pull an image or to read a parameter is granted by the one who owns those, for instance
    `TrainingRepository.grant_pull`; what the orchestrator needs on a node is given here.

    Attributes:
        role: the role.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_logs as logs
        from trainshed_constructs import NodeRole

        stack = Stack(App(), "Compute")
        NodeRole(stack, "Nodes", log_group=logs.LogGroup(stack, "Jobs"))
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        log_group: logs.ILogGroup | None = None,
        statements: Sequence[iam.PolicyStatement] = (),
        wildcards: Mapping[str, str] | None = None,
    ) -> None:
        """Declare the role.

        Args:
            scope: parent.
            construct_id: id within the parent.
            log_group: what the jobs' output is written to, by a program of the node; by default
                nothing is.
            statements: what the orchestrator's programs need beside; by default nothing.
            wildcards: why these have resources with a wildcard, by resource.
        """
        super().__init__(scope, construct_id)
        everything = [*statements, *_statements(log_group)]
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="Nodes of a training cluster",
            inline_policies={"Node": iam.PolicyDocument(statements=everything)},
        )
        acknowledge_wildcards(
            self.role,
            {
                **(wildcards or {}),
                own_arn("ec2", "instance/*"): "the instances are launched after this role is made; "
                "the condition admits a node itself only",
                "*": "these actions take no resource (Service Authorization Reference)",
            },
        )

    @cached_property
    def profile(self) -> iam.CfnInstanceProfile:
        """The instance profile that carries it; it is declared when it is asked for."""
        return iam.CfnInstanceProfile(self, "Profile", roles=[self.role.role_name])


def _statements(log_group: logs.ILogGroup | None) -> Iterator[iam.PolicyStatement]:
    yield from (
        iam.PolicyStatement(sid="BeReached", actions=session_actions(), resources=["*"]),
        iam.PolicyStatement(
            # Memory and disk, by the CloudWatch agent of our images (packer/scripts/12-agents.sh),
            # and boots that failed; the action takes no resource, but knows the namespace.
            sid="ReportMetrics",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": "trainshed"}},
        ),
        iam.PolicyStatement(
            # How the boot went, as a tag of the node itself: of the instance that was given these
            # credentials. AWS's managed policy AWSEC2VssSnapshotPolicy compares the same two.
            sid="TellHowItBooted",
            actions=["ec2:CreateTags"],
            resources=[own_arn("ec2", "instance/*")],
            conditions={
                "ArnEquals": {
                    "ec2:SourceInstanceARN": own_arn("ec2", "instance/${ec2:InstanceID}")
                },
                "ForAllValues:StringEquals": {"aws:TagKeys": ["trainshed:boot"]},
                # Of no keys at all the line above is true.
                "Null": {"aws:TagKeys": "false"},
            },
        ),
    )
    if log_group:
        yield iam.PolicyStatement(
            sid="WriteJobLogs",
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[log_group.log_group_arn],
        )
