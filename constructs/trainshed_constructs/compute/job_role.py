"""The role of the containers of a job."""

from collections.abc import Sequence

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.spec import BucketGrant
from trainshed_constructs.compute.job_access import grant_job_access, see_the_network
from trainshed_constructs.wildcards import acknowledge_wildcards


def job_role(
    scope: Construct,
    construct_id: str,
    *,
    description: str,
    assumed_by: iam.IPrincipal,
    buckets: Sequence[BucketGrant],
    policies: Sequence[str],
) -> iam.Role:
    """Declare a role of containers.

    Args:
        scope: parent.
        construct_id: id within the parent.
        description: for people.
        assumed_by: who takes it for them.
        buckets: what they may use in S3.
        policies: ARNs of managed policies.

    Raises:
        ConstructError: there are more buckets than an inline policy holds.
    """
    role = iam.Role(
        scope,
        construct_id,
        description=description,
        assumed_by=assumed_by,
        inline_policies={"Launch": iam.PolicyDocument(statements=[see_the_network()])},
    )
    acknowledge_wildcards(
        role, {"*": "the action takes no resource (Service Authorization Reference)"}
    )
    grant_job_access(role, buckets=buckets, policies=policies, inline=[see_the_network()])
    return role


def ecs_tasks(scope: Construct) -> iam.IPrincipal:
    """Return who takes a role for ECS tasks of this account and region.

    Amazon ECS developer guide, "Amazon ECS task IAM role", on the confused deputy.
    """
    return iam.ServicePrincipal(
        "ecs-tasks.amazonaws.com",
        conditions={
            "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
            "ArnLike": {"aws:SourceArn": Stack.of(scope).format_arn(service="ecs", resource="*")},
        },
    )
