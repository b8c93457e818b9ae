"""A guard against replacing a file system by a new, empty one without consent."""

from collections.abc import Mapping

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.plan import StorageKind
from trainshed_constructs.custom_resources.inline_resource import inline_resource

# Tag of a file system of Lustre and of its group, which stay together: what clusters share it by.
NAME_TAG = "trainshed:lustre"
# By kind: the service's names in boto3 and in IAM.
_SERVICES = {
    StorageKind.LUSTRE: ("fsx", "fsx"),
    StorageKind.EFS: ("efs", "elasticfilesystem"),
    StorageKind.OPENZFS: ("fsx", "fsx"),
}


class ReplacementGuard(Construct):
    """Fails a deployment that would make another file system in place of, or beside, one with data.

    CloudFormation replaces a file system when certain properties change: it makes a new, empty
    one and forgets, or deletes, the old. A change set that says so is easily overlooked, so this
    custom resource compares the properties with those deployed before, and fails the update with
    the names of those that changed. What it guards must depend on it:
    `file_system.node.add_dependency(guard)`.

    Two more deployments fail here, before anything is made. A creation, when there is a file
    system with the tag `trainshed:KIND` and the same name: one that a deleted stack has kept.
    And an update that links another S3 path: FSx takes one link for each folder, and CloudFormation
    makes the new one before it removes the old.

    Its function may write its log, describe file systems, and look at the stack's status: a
    rollback, which brings the old values back, is not an update.

    Attributes:
        resource: the custom resource.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import ReplacementGuard

        stack = Stack(App(), "Storage")
        ReplacementGuard(
            stack,
            "Guard",
            name="train",
            properties={"SubnetIds": ["subnet-0123456789abcdef0"], "StorageCapacity": 1200},
            allow_replacement=False,
            how_to_allow="LustreSpec(allow_replacement=True)",
            how_to_adopt="ExistingLustre",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        kind: StorageKind = StorageKind.LUSTRE,
        name: str,
        properties: Mapping[str, object],
        s3_link: str | None = None,
        allow_replacement: bool,
        how_to_allow: str,
        how_to_adopt: str,
    ) -> None:
        """Declare the guard.

        Args:
            scope: parent.
            construct_id: id within the parent.
            kind: of the file system.
            name: the file system's value of the tag `trainshed:KIND`.
            properties: the file system's that cannot change in place; StorageCapacity (GiB) may
                grow.
            s3_link: path of the S3 bucket that is linked, `s3://...`; by default none.
            allow_replacement: let another file system be made.
            how_to_allow: what to set for that, for the message.
            how_to_adopt: what to set to use the one that was kept, for the message.
        """
        super().__init__(scope, construct_id)
        service, prefix = _SERVICES[kind]
        describe = f"{prefix}:DescribeFileSystems"
        self.resource = inline_resource(
            self,
            name="replacement_guard",
            description="Stops updates that would replace a file system",
            statements=[
                iam.PolicyStatement(
                    actions=["cloudformation:DescribeStacks"], resources=[Aws.STACK_ID]
                ),
                iam.PolicyStatement(actions=[describe], resources=["*"]),
            ],
            wildcards={"*": f"{describe} has to find what nobody knows the id of"},
            properties={
                "FileSystem": {key: value for key, value in properties.items() if value},
                "Service": service,
                "Tag": f"trainshed:{kind}",
                "Name": name,
                "S3": s3_link or "",
                "AllowReplacement": allow_replacement,
                "HowToAllow": how_to_allow,
                "HowToAdopt": how_to_adopt,
            },
        )
