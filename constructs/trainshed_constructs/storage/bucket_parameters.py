"""Which bucket is mounted, published for the nodes."""

from constructs import Construct

from trainshed.plan import BucketPlan
from trainshed_constructs.storage.parameters import publish


def publish_bucket(scope: Construct, *, name: str, bucket_name: str, mount_prefix: str) -> None:
    """Write the name of a bucket to SSM Parameter Store, and what of it is mounted if not all is.

    Args:
        scope: the construct of the bucket.
        name: what clusters share it by.
        bucket_name: of the bucket.
        mount_prefix: what of it is mounted; empty for all.
    """
    parameters = {"bucket-name": bucket_name}
    if mount_prefix:
        parameters["prefix"] = mount_prefix
    publish(scope, BucketPlan, name=name, parameters=parameters)
