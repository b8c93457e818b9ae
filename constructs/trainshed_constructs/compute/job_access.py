"""What a job may do: see where it runs, and what was asked for."""

from collections.abc import Iterator, Sequence

from aws_cdk import Acknowledgment, Aws, Validations
from aws_cdk import aws_iam as iam

from trainshed.spec import BucketGrant
from trainshed_constructs.ami_pipeline.policy_size import check_policy_size
from trainshed_constructs.wildcards import acknowledge_wildcards

# By the words of `BucketAccess`.
_OBJECT_ACTIONS = {
    "read": ["s3:GetObject"],
    "write": ["s3:PutObject", "s3:AbortMultipartUpload"],
    "delete": ["s3:DeleteObject"],
}


def grant_job_access(
    role: iam.Role,
    *,
    buckets: Sequence[BucketGrant],
    policies: Sequence[str],
    inline: Sequence[iam.PolicyStatement],
) -> None:
    """Let the role that jobs have use buckets, and what managed policies allow.

    Args:
        role: of the jobs.
        buckets: what they may use in S3.
        policies: ARNs of managed policies.
        inline: statements that the role has already, which count for its size.

    Raises:
        ConstructError: there are more buckets than an inline policy holds.
    """
    for index, arn in enumerate(policies):
        role.add_managed_policy(
            iam.ManagedPolicy.from_managed_policy_arn(role, f"Policy{index}", arn)
        )
    grant_buckets(role, buckets, inline=inline)
    if policies:
        Validations.of(role).acknowledge(
            *(
                Acknowledgment(
                    id=f"AwsSolutions-IAM4[Policy::{arn}]",
                    reason="the cluster's file names this policy",
                )
                for arn in policies
            )
        )


def grant_buckets(
    role: iam.Role,
    buckets: Sequence[BucketGrant],
    *,
    inline: Sequence[iam.PolicyStatement] = (),
) -> None:
    """Let a role use buckets.

    Args:
        role: of jobs, or of nodes.
        buckets: what it may use in S3.
        inline: statements that the role has already, which count for its size.

    Raises:
        ConstructError: there are more buckets than an inline policy holds.
    """
    if not buckets:
        return
    statements = [each for grant in buckets for each in _statements(grant)]
    check_policy_size(
        role, [*inline, *statements], shorten_by="name fewer buckets, or a wider prefix"
    )
    for statement in statements:
        role.add_to_policy(statement)
    acknowledge_wildcards(
        role,
        dict.fromkeys(
            map(_objects, buckets),
            "the cluster's file names the bucket and the prefix; jobs name their objects",
        ),
    )


def grant_key_by_s3(role: iam.Role, key_arn: str, *, write: bool) -> None:
    """Let a role use a KMS key for what it reads and writes in S3, and for nothing else.

    S3 user guide, "Using server-side encryption with AWS KMS keys (SSE-KMS)": an upload in parts
    needs both actions.

    Args:
        role: of jobs, or of nodes.
        key_arn: of the key.
        write: it writes, too.
    """
    role.add_to_policy(
        iam.PolicyStatement(
            actions=["kms:Decrypt", *(["kms:GenerateDataKey"] if write else [])],
            resources=[key_arn],
            conditions={"StringEquals": {"kms:ViaService": f"s3.{Aws.REGION}.{Aws.URL_SUFFIX}"}},
        )
    )


def see_the_network() -> iam.PolicyStatement:
    """Let trainshed-launch order the ranks by the network between the nodes.

    Service Authorization Reference, Amazon EC2: the action takes no resource.
    """
    return iam.PolicyStatement(
        sid="SeeTheNetwork", actions=["ec2:DescribeInstanceTopology"], resources=["*"]
    )


def _objects(grant: BucketGrant) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{grant.bucket}/{grant.prefix}*"


def _statements(grant: BucketGrant) -> Iterator[iam.PolicyStatement]:
    """Name the least that S3's own clients need to list, read and write under a prefix.

    Service Authorization Reference, Amazon S3. AbortMultipartUpload ends an upload that failed,
    which would be billed forever. No s3:DeleteObjectVersion: in a versioned bucket nothing is
    lost for good.
    """
    yield iam.PolicyStatement(
        actions=["s3:ListBucket"],
        resources=[f"arn:{Aws.PARTITION}:s3:::{grant.bucket}"],
        conditions={"StringLike": {"s3:prefix": f"{grant.prefix}*"}} if grant.prefix else None,
    )
    yield iam.PolicyStatement(
        actions=[each for verb in grant.access.split("-") for each in _OBJECT_ACTIONS[verb]],
        resources=[_objects(grant)],
    )
