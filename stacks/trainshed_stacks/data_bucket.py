"""What the nodes and the jobs of a cluster may do in its bucket, and how jobs know it."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from trainshed.nodes.variables import BUCKET
from trainshed.plan import BucketPlan, ClusterPlan
from trainshed.spec import BucketAccess, BucketGrant
from trainshed_constructs import grant_buckets, grant_key_by_s3


def bucket_name(cluster: ClusterPlan, bucket: BucketPlan) -> str:
    """Return the name of a cluster's bucket, whichever account it is deployed to."""
    return bucket.bucket_name(Aws.ACCOUNT_ID, cluster.region)


def job_variables(cluster: ClusterPlan) -> dict[str, str]:
    """Return the variable that tells jobs the name of the bucket, if there is one."""
    bucket = cluster.bucket
    return {BUCKET: bucket_name(cluster, bucket)} if bucket else {}


def job_buckets(cluster: ClusterPlan) -> tuple[BucketGrant, ...]:
    """Return all buckets that jobs may use."""
    bucket = cluster.bucket
    if bucket is None:
        return cluster.job_access.buckets
    return (*cluster.job_access.buckets, _grant(cluster, bucket, bucket.access))


def let_jobs_use_key(cluster: ClusterPlan, role: iam.Role) -> None:
    """Let the role of jobs use the key of the bucket, through S3 only."""
    bucket, key = cluster.bucket, cluster.security.kms_key
    if bucket and key:
        grant_key_by_s3(role, key, write=bucket.access is not BucketAccess.READ)


def let_nodes_mount(cluster: ClusterPlan, role: iam.Role) -> None:
    """Let the role of nodes read what they mount of the bucket, if they do.

    Mountpoint for Amazon S3, doc/CONFIGURATION.md, "IAM permissions": to read a prefix it needs
    s3:ListBucket with the condition s3:prefix, and s3:GetObject.
    """
    bucket, key = cluster.bucket, cluster.security.kms_key
    if bucket is None or not bucket.mount:
        return
    grant_buckets(role, [_grant(cluster, bucket, BucketAccess.READ, bucket.mount_prefix)])
    if key:
        grant_key_by_s3(role, key, write=False)


def _grant(
    cluster: ClusterPlan, bucket: BucketPlan, access: BucketAccess, prefix: str = ""
) -> BucketGrant:
    # The name has a pseudo parameter, which no name of a cluster file may have.
    return BucketGrant.model_construct(
        bucket=bucket_name(cluster, bucket), prefix=prefix, access=access
    )
