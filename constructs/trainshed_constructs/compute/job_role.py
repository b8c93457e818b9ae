"""What the containers of a job may do: nothing but what was asked for."""

from collections.abc import Iterable, Iterator

from aws_cdk import Acknowledgment, Aws, Stack, Validations
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.plan import BucketRights, JobAccess
from trainshed_constructs.ami_pipeline.policy_size import check_policy_size
from trainshed_constructs.wildcards import acknowledge_wildcards


def job_role(scope: Construct, construct_id: str, *, access: JobAccess) -> iam.Role:
    """Declare a role that only ECS tasks of this account and region may take.

    Amazon ECS developer guide, "Amazon ECS task IAM role", on the confused deputy.

    Args:
        scope: parent.
        construct_id: id within the parent.
        access: buckets and policies.

    Raises:
        ConstructError: there are more buckets than an inline policy holds.
    """
    role = iam.Role(
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
        managed_policies=[
            iam.ManagedPolicy.from_managed_policy_arn(scope, f"{construct_id}Policy{index}", arn)
            for index, arn in enumerate(access.policies)
        ],
    )
    if access.buckets:
        _grant(role, access.buckets)
    if access.policies:
        Validations.of(role).acknowledge(
            *(
                Acknowledgment(
                    id=f"AwsSolutions-IAM4[Policy::{arn}]",
                    reason="the cluster's file names this policy",
                )
                for arn in access.policies
            )
        )
    return role


def _grant(role: iam.Role, buckets: Iterable[BucketRights]) -> None:
    statements = [each for rights in buckets for each in _statements(rights)]
    check_policy_size(role, statements, shorten_by="name fewer buckets, or a wider prefix")
    for statement in statements:
        role.add_to_policy(statement)
    acknowledge_wildcards(
        role,
        dict.fromkeys(
            map(_objects, buckets),
            "the cluster's file names the bucket and the prefix; jobs name their objects",
        ),
    )


def _objects(rights: BucketRights) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{rights.bucket}/{rights.prefix}*"


def _statements(rights: BucketRights) -> Iterator[iam.PolicyStatement]:
    """Name the least that S3's own clients need to list, read and write under a prefix.

    Service Authorization Reference, Amazon S3. AbortMultipartUpload ends an upload that failed,
    which would be billed for ever. No s3:DeleteObjectVersion: in a versioned bucket nothing is
    lost for good.
    """
    yield iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[f"arn:{Aws.PARTITION}:s3:::{rights.bucket}"],
        conditions={"StringLike": {"s3:prefix": f"{rights.prefix}*"}} if rights.prefix else None,
    )
    yield iam.PolicyStatement(
        actions=[
            "s3:GetObject",
            *(["s3:PutObject", "s3:AbortMultipartUpload"] if rights.write else []),
            *(["s3:DeleteObject"] if rights.delete else []),
        ],
        resources=[_objects(rights)],
    )
