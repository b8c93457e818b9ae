"""Network access between a file system that is mounted by NFS and its clients."""

from typing import Final

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

# EFS user guide, "Using VPC security groups", and FSx for OpenZFS user guide, "File system access
# control with Amazon VPC"; NFS 4 uses no other port.
NFS_PORT: Final = 2049


class NfsSecurityGroup(Construct):
    """Security group of a file system that one group of clients mounts by NFS 4.

    TCP 2049 from the clients to the file system, by group id. The clients' rule is here, too, so
    that their group may belong to another stack that knows nothing of storage.

    An existing file system of FSx has its group already; then only the rules are made.

    Attributes:
        security_group: the group.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import NfsSecurityGroup

        stack = Stack(App(), "Storage")
        vpc = ec2.Vpc(stack, "Vpc")
        NfsSecurityGroup(
            stack,
            "Access",
            vpc=vpc,
            clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc),
            description="EFS file system",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        clients: ec2.ISecurityGroup,
        description: str,
        existing_group_id: str | None = None,
    ) -> None:
        """Declare the group and its rules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: of the file system.
            clients: group of the nodes, in the same VPC.
            description: of a new group.
            existing_group_id: group of an existing file system; by default a new one.
        """
        super().__init__(scope, construct_id)
        self.security_group: ec2.ISecurityGroup
        if existing_group_id:
            self.security_group = ec2.SecurityGroup.from_security_group_id(
                self, "Group", existing_group_id, mutable=False
            )
        else:
            self.security_group = ec2.SecurityGroup(
                self, "Group", vpc=vpc, description=description, allow_all_outbound=False
            )
        servers, nodes = self.security_group.security_group_id, clients.security_group_id
        # L1, because L2 puts a rule into the stack of the group that it belongs to.
        ec2.CfnSecurityGroupIngress(
            self,
            "FromClients",
            group_id=servers,
            source_security_group_id=nodes,
            ip_protocol="tcp",
            description="NFS",
            from_port=NFS_PORT,
            to_port=NFS_PORT,
        )
        ec2.CfnSecurityGroupEgress(
            self,
            "ClientsTo",
            group_id=nodes,
            destination_security_group_id=servers,
            ip_protocol="tcp",
            description="NFS",
            from_port=NFS_PORT,
            to_port=NFS_PORT,
        )
