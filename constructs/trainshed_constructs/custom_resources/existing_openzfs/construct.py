"""An OpenZFS file system that is there already, for instance one that a deleted stack has kept."""

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.plan import OpenZfsPlan
from trainshed_constructs.custom_resources.existing_fsx.facts import existing_file_system
from trainshed_constructs.storage.nfs_security_group import NfsSecurityGroup
from trainshed_constructs.storage.openzfs_file_system import ROOT_VOLUME_PATH
from trainshed_constructs.storage.parameters import publish


class ExistingOpenZfs(Construct):
    """Lets nodes reach an existing FSx for OpenZFS file system, as an `OpenZfsFileSystem`.

    A custom resource asks FSx where the file system is when the stack is deployed, and fails when
    nodes cannot use it: it is not there, not OpenZFS, not available, or in another VPC. Then its
    security group lets the nodes in, and the parameters for the mount of its root volume are
    published where `FirstBoot` looks. The file system itself is not changed, and deleting the stack
    leaves it alone.

    Attributes:
        security_group: of the file system.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import ExistingOpenZfs

        stack = Stack(App(), "Storage")
        vpc = ec2.Vpc(stack, "Vpc")
        ExistingOpenZfs(
            stack,
            "OpenZfs",
            vpc=vpc,
            clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc),
            name="train",
            file_system_id="fs-0123456789abcdef0",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        clients: ec2.ISecurityGroup,
        name: str,
        file_system_id: str,
    ) -> None:
        """Declare the rules and the parameters.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: of the nodes; the file system must be in it.
            clients: security group of the nodes; it may belong to another stack.
            name: what clusters share the file system by.
            file_system_id: `fs-...`.
        """
        super().__init__(scope, construct_id)
        found = existing_file_system(
            Construct(self, "Facts"),
            name="existing_openzfs",
            file_system_type="OPENZFS",
            title=OpenZfsPlan.title,
            vpc=vpc,
            file_system_id=file_system_id,
        )
        # Ids as in `OpenZfsFileSystem`, so that a stack can go from one to the other in place.
        self.security_group = NfsSecurityGroup(
            self,
            "Access",
            vpc=vpc,
            clients=clients,
            description=OpenZfsPlan.title,
            existing_group_id=found.get_att_string("SecurityGroupId"),
        ).security_group
        publish(
            self,
            OpenZfsPlan,
            name=name,
            parameters={
                "dns-name": found.get_att_string("DnsName"),
                "volume-path": ROOT_VOLUME_PATH,
            },
        )
