"""What the ECS agent of a node may do."""

from collections.abc import Mapping

from aws_cdk import aws_iam as iam

from trainshed_constructs.wildcards import own_arn

# AWS Batch's service-linked role, by the managed policy BatchServiceRolePolicy, deletes and runs
# tasks in clusters AWSBatch* alone; they are seen as AWSBatch-ENVIRONMENT-UUID.
_CLUSTERS = "AWSBatch-*"
# Amazon ECS developer guide, "Amazon ECS container instance IAM role": what the managed policy
# AmazonEC2ContainerServiceforEC2Role lets the agent do, less CreateCluster (AWS Batch makes it).
# Version 10 of it, of 2026-02-12, has ecs:ListTagsForResource as well, which is below.
# ec2:DescribeTags, below, is for an agent set to copy its instance's tags: it gives up otherwise.
_ACTIONS = (
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


def ecs_agent_statements() -> list[iam.PolicyStatement]:
    """Return what the agent needs to join a cluster and to run tasks."""
    instances = own_arn("ecs", f"container-instance/{_CLUSTERS}/*")
    return [
        iam.PolicyStatement(
            sid="JoinTheCluster",
            actions=[*_ACTIONS],
            resources=[own_arn("ecs", f"cluster/{_CLUSTERS}"), instances],
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
            resources=[instances, own_arn("ecs", f"task/{_CLUSTERS}/*")],
        ),
        iam.PolicyStatement(
            sid="LogInToEcr", actions=[*_ACTIONS_WITHOUT_RESOURCE], resources=["*"]
        ),
    ]


def ecs_agent_wildcards() -> Mapping[str, str]:
    """Return why these statements have wildcards, by resource."""
    return {
        own_arn("ecs", f"cluster/{_CLUSTERS}"): "AWS Batch makes and names the ECS cluster after "
        "this role is made",
        own_arn("ecs", f"container-instance/{_CLUSTERS}/*"): "an instance gets its id when it "
        "registers, with this role",
        own_arn("ecs", f"task/{_CLUSTERS}/*"): "a task gets its id when it starts, on a node that "
        "has this role",
    }
