"""What the containers of a job may do: nothing, until granted."""

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct


def job_role(scope: Construct, construct_id: str) -> iam.Role:
    """Declare a role that only ECS tasks of this account and region may take.

    Amazon ECS developer guide, "Amazon ECS task IAM role", on the confused deputy.
    """
    return iam.Role(
        scope,
        construct_id,
        description="Containers of multi-node training jobs",
        assumed_by=iam.ServicePrincipal(
            "ecs-tasks.amazonaws.com",
            conditions={
                "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                "ArnLike": {
                    "aws:SourceArn": Stack.of(scope).format_arn(service="ecs", resource="*")
                },
            },
        ),
    )
