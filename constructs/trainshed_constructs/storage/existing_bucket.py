"""An S3 bucket that is there already, for instance one that a deleted stack has kept."""

from constructs import Construct

from trainshed_constructs.storage.bucket_parameters import publish_bucket


class ExistingBucket(Construct):
    """Lets nodes find an existing S3 bucket, as they find a `DataBucket`.

    The bucket itself is not changed: its lifecycle, its policy and its versions stay as they are.
    Roles get access to it where they are declared.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import ExistingBucket

        stack = Stack(App(), "Storage")
        ExistingBucket(stack, "Bucket", name="train", bucket_name="our-datasets")
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        bucket_name: str,
        mount_prefix: str = "",
    ) -> None:
        """Declare the parameters.

        Args:
            scope: parent.
            construct_id: id within the parent.
            name: what clusters share it by.
            bucket_name: of the bucket.
            mount_prefix: what of it nodes mount; by default all.
        """
        super().__init__(scope, construct_id)
        publish_bucket(self, name=name, bucket_name=bucket_name, mount_prefix=mount_prefix)
