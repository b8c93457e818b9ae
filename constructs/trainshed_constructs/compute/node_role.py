"""What a node of a cluster may do: join ECS, write logs and metrics, be reached."""

from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from trainshed.ami.session_manager import session_actions
from trainshed_constructs.wildcards import acknowledge_wildcards, own_arn

# Amazon ECS developer guide, "Amazon ECS container instance IAM role": what the managed policy
# AmazonEC2ContainerServiceforEC2Role lets the agent do, less CreateCluster (AWS Batch makes it).
# Version 10 of it, of 2026-02-12, has ecs:ListTagsForResource as well, which is below.
# ec2:DescribeTags, below, is for an agent set to copy its instance's tags: it gives up otherwise.
_AGENT_ACTIONS = (
    "ecs:DeregisterContainerInstance",
    "ecs:Poll",
    "ecs:RegisterContainerInstance",
    "ecs:StartTelemetrySession",
    "ecs:SubmitAttachmentStateChanges",
    "ecs:SubmitContainerStateChange",
    "ecs:SubmitTaskStateChange",
    "ecs:UpdateContainerInstancesState",
)
# Service Authorization Reference: these take no resource. The login to ECR is for every repository;
# pulling from one is granted by whoever owns it.
_ACTIONS_WITHOUT_RESOURCE = (
    "ec2:DescribeTags",
    "ecr:GetAuthorizationToken",
    "ecs:DiscoverPollEndpoint",
)


class NodeRole(Construct):
    """Role and instance profile of the nodes of an AWS Batch compute environment.

    Less than the managed policies AmazonEC2ContainerServiceforEC2Role and
    AmazonSSMManagedInstanceCore, which AWS Batch's guide and Session Manager's name: those write
    every log group, pull every image and read every SSM parameter of the account. Session Manager
    is there because a node has no public address and no SSH key: without it nobody can look at a
    node on which a job hangs.

    The role may log in to ECR. To pull an image or to read a parameter is granted by the one who
    owns those, for instance `TrainingRepository.grant_pull`.

    Attributes:
        role: the role.
        profile: the instance profile that carries it.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_logs as logs
        from trainshed_constructs import NodeRole

        stack = Stack(App(), "Compute")
        NodeRole(stack, "Nodes", log_group=logs.LogGroup(stack, "Jobs"))
    """

    def __init__(self, scope: Construct, construct_id: str, *, log_group: logs.ILogGroup) -> None:
        """Declare the role.

        Args:
            scope: parent.
            construct_id: id within the parent.
            log_group: what the containers' output is written to; Docker on the node writes it.
        """
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="Nodes of an AWS Batch compute environment",
            inline_policies={"Node": iam.PolicyDocument(statements=_statements(log_group))},
        )
        self.profile = iam.CfnInstanceProfile(self, "Profile", roles=[self.role.role_name])
        acknowledge_wildcards(
            self.role,
            {
                own_arn("ecs", "cluster/*"): "AWS Batch makes and names the ECS cluster after this "
                "role is made",
                own_arn("ecs", "container-instance/*"): "an instance gets its id when it "
                "registers, with this role",
                own_arn("ecs", "task/*"): "a task gets its id when it starts, on a node that has "
                "this role",
                own_arn("ec2", "instance/*"): "AWS Batch launches the instances; the condition "
                "admits a node itself only",
                "*": "these actions take no resource (Service Authorization Reference)",
            },
        )


def _statements(log_group: logs.ILogGroup) -> list[iam.PolicyStatement]:
    instances = own_arn("ecs", "container-instance/*")
    return [
        iam.PolicyStatement(
            sid="JoinTheCluster",
            actions=[*_AGENT_ACTIONS],
            resources=[own_arn("ecs", "cluster/*"), instances],
        ),
        iam.PolicyStatement(
            # Asked for when the agent registers with tags, which AWS Batch decides.
            sid="RegisterWithTags",
            actions=["ecs:TagResource"],
            resources=[instances],
            conditions={"StringEquals": {"ecs:CreateAction": "RegisterContainerInstance"}},
        ),
        iam.PolicyStatement(
            # For what the agent shows containers of their task with its tags (task metadata
            # endpoint, taskWithTags).
            sid="ReadTags",
            actions=["ecs:ListTagsForResource"],
            resources=[instances, own_arn("ecs", "task/*")],
        ),
        iam.PolicyStatement(
            sid="LogInAndBeReached",
            actions=[*_ACTIONS_WITHOUT_RESOURCE, *session_actions()],
            resources=["*"],
        ),
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
        iam.PolicyStatement(
            sid="WriteJobLogs",
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[log_group.log_group_arn],
        ),
    ]
