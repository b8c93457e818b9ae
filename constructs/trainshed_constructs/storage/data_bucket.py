"""An S3 bucket of clusters, whose data outlives the stack."""

from collections.abc import Iterator, Sequence

from aws_cdk import Acknowledgment, Duration, RemovalPolicy, Tags, Validations
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from trainshed.plan import BucketPlan
from trainshed.plan.storage.bucket import UPLOAD_DAYS, VERSION_DAYS
from trainshed.plan.storage.bucket_lifecycle import moves_of
from trainshed.spec import BucketLifecycle
from trainshed_constructs.storage.bucket_parameters import publish_bucket


class DataBucket(Construct):
    """S3 bucket for the data sets, checkpoints and archives of one or more clusters.

    Follows the S3 user guide, "Security best practices for Amazon S3" and "Managing the lifecycle
    of objects".

    - No deployment makes data disappear: the bucket and its policy stay when the stack goes. Its
      name is given, so that no change of settings replaces it, and S3 refuses a second one.
    - Private: public access is blocked, access control lists are off, and its policy refuses
      requests without TLS.
    - Encrypted at rest by S3's own keys, or by a key of yours with a bucket key, which saves
      requests to KMS.
    - Versioned: what is overwritten or deleted is kept for 90 days more. Uploads that never ended
      are removed after 7 days, because their parts are billed and seen by nobody.
    - Objects of less than 128 KiB stay where they are, as S3 has it by default: to move them costs
      more than it saves.
    - Its name is published to SSM Parameter Store as `/trainshed/bucket/NAME/bucket-name`, which
      `FirstBoot` lets nodes read at boot that mount it.

    Attributes:
        bucket: the bucket.

    Example::

        from aws_cdk import App, Stack
        from trainshed.spec import BucketLifecycle
        from trainshed_constructs import DataBucket

        stack = Stack(App(), "Storage")
        DataBucket(
            stack,
            "Bucket",
            name="train",
            bucket_name="trainshed-train-123456789012-us-west-2",
            lifecycle=[BucketLifecycle(prefix="runs/", glacier_days=90)],
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        bucket_name: str,
        mount_prefix: str = "",
        lifecycle: Sequence[BucketLifecycle] = (),
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the bucket.

        Args:
            scope: parent.
            construct_id: id within the parent.
            name: what clusters share it by.
            bucket_name: of the bucket.
            mount_prefix: what of it nodes mount; by default all.
            lifecycle: what becomes of objects as they grow old; by default nothing.
            kms_key_arn: key that encrypts it; by default S3's own.
        """
        super().__init__(scope, construct_id)
        key = kms.Key.from_key_arn(self, "Key", kms_key_arn) if kms_key_arn else None
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=bucket_name,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            versioned=True,
            lifecycle_rules=list(_rules(lifecycle)),
            # Kept, except when its own creation fails, which leaves nothing worth keeping.
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        # Without it what is kept would be open to requests without TLS.
        assert self.bucket.policy
        self.bucket.policy.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        Tags.of(self.bucket).add("Name", name)
        Tags.of(self.bucket).add(f"trainshed:{BucketPlan.kind}", name)
        Validations.of(self.bucket.node.find_child("Resource")).acknowledge(
            Acknowledgment(
                id="AwsSolutions-S1",
                reason="data of jobs: where it matters who reads them, CloudTrail's data events "
                "show it, without a second bucket that would need the same",
            )
        )
        publish_bucket(self, name=name, bucket_name=bucket_name, mount_prefix=mount_prefix)


def _rules(lifecycle: Sequence[BucketLifecycle]) -> Iterator[s3.LifecycleRule]:
    """Return what is done in any bucket, and what is asked."""
    yield s3.LifecycleRule(
        id="CleanUp",
        abort_incomplete_multipart_upload_after=Duration.days(UPLOAD_DAYS),
        noncurrent_version_expiration=Duration.days(VERSION_DAYS),
        expired_object_delete_marker=True,
    )
    for rule in lifecycle:
        yield s3.LifecycleRule(
            prefix=rule.prefix or None,
            transitions=[
                s3.Transition(
                    storage_class=s3.StorageClass(each.to.name),
                    transition_after=Duration.days(each.days),
                )
                for each in moves_of(rule)
            ],
            expiration=Duration.days(rule.expire_days) if rule.expire_days else None,
        )
