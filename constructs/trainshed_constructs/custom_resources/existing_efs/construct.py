"""An EFS file system that is there already, for instance one that a deleted stack has kept."""

from collections.abc import Mapping

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from trainshed.plan import EfsPlan
from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.custom_resources.inline_resource import resource_of
from trainshed_constructs.storage.nfs_security_group import NfsSecurityGroup
from trainshed_constructs.storage.parameters import publish
from trainshed_constructs.wildcards import own_arn

_NAME = "existing_efs"
# EFS API reference, CreateMountTarget and DeleteMountTarget: what their callers need of EC2.
_EC2 = (
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:ModifyNetworkInterfaceAttribute",
)


class ExistingEfs(Construct):
    """Lets nodes reach an existing EFS file system, as they reach an `EfsFileSystem`.

    A custom resource for each zone asks EFS for the file system when the stack is deployed, and
    fails when nodes cannot use it: it is not there, not available, or has mount targets in another
    VPC. The mount target of the zone gets a group that lets the nodes in, beside its own; where
    there is none, as after the stack that made the file system was deleted, one is made. Deleting
    the stack takes back what it did. The file system itself is not changed.

    Attributes:
        security_group: that lets the nodes in.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import ExistingEfs

        stack = Stack(App(), "Storage")
        vpc = ec2.Vpc(stack, "Vpc")
        ExistingEfs(
            stack,
            "Efs",
            vpc=vpc,
            subnets={"usw2-az1": vpc.private_subnets[0]},
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
        subnets: Mapping[str, ec2.ISubnet],
        clients: ec2.ISecurityGroup,
        name: str,
        file_system_id: str,
    ) -> None:
        """Declare the rules, the mount targets and the parameter.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: of the nodes.
            subnets: of the nodes, by zone.
            clients: security group of the nodes; it may belong to another stack.
            name: what clusters share the file system by.
            file_system_id: `fs-...`.
        """
        super().__init__(scope, construct_id)
        access = NfsSecurityGroup(
            self, "Access", vpc=vpc, clients=clients, description="EFS file system"
        )
        self.security_group = access.security_group
        function = inline_function(
            Construct(self, "Facts"),
            name=_NAME,
            description="Lets nodes in to an existing EFS file system",
            statements=[
                iam.PolicyStatement(
                    actions=[
                        "elasticfilesystem:CreateMountTarget",
                        "elasticfilesystem:DeleteMountTarget",
                        "elasticfilesystem:DescribeFileSystems",
                        "elasticfilesystem:DescribeMountTargets",
                        "elasticfilesystem:DescribeMountTargetSecurityGroups",
                        "elasticfilesystem:ModifyMountTargetSecurityGroups",
                    ],
                    resources=[own_arn("elasticfilesystem", f"file-system/{file_system_id}")],
                ),
                iam.PolicyStatement(actions=list(_EC2), resources=["*"]),
            ],
            wildcards={"*": "EC2 has no ARN of what EFS is going to make"},
            timeout=minutes(2),
        )
        for zone, subnet in subnets.items():
            resource_of(
                self,
                f"MountTarget{zone}",
                name=_NAME,
                function=function,
                properties={
                    "FileSystemId": file_system_id,
                    "SubnetId": subnet.subnet_id,
                    "VpcId": vpc.vpc_id,
                    "GroupId": self.security_group.security_group_id,
                },
            )
        publish(self, EfsPlan, name=name, parameters={"file-system-id": file_system_id})
