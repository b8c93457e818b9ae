"""A shared OpenZFS file system whose data outlives the stack."""

from typing import Final

from aws_cdk import RemovalPolicy, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from constructs import Construct

from trainshed.plan import OpenZfsPlan
from trainshed.spec import OpenZfsSpec
from trainshed_constructs.custom_resources.replacement_guard.construct import ReplacementGuard
from trainshed_constructs.storage.nfs_security_group import NFS_PORT, NfsSecurityGroup
from trainshed_constructs.storage.parameters import publish

# FSx for OpenZFS user guide, "Mounting your file systems": of the root volume.
ROOT_VOLUME_PATH: Final = "/fsx"
_DEPLOYMENT = "SINGLE_AZ_HA_2"
_BACKUP_DAYS = 7
_Configuration = fsx.CfnFileSystem.OpenZFSConfigurationProperty
_RootVolume = fsx.CfnFileSystem.RootVolumeConfigurationProperty
_Exports = fsx.CfnFileSystem.NfsExportsProperty
_Clients = fsx.CfnFileSystem.ClientConfigurationsProperty


class OpenZfsFileSystem(Construct):
    """FSx for OpenZFS file system for the nodes of one or more clusters.

    Follows FSx's API reference, CreateFileSystem, and the FSx for OpenZFS user guide.

    - No deployment makes data disappear. Deleting the stack keeps the file system and its security
      group, and an update that would replace it, or a creation beside one that was kept under the
      same name, fails unless `settings.allow_replacement` (`ReplacementGuard`). Storage may grow in
      place, and throughput change. `ExistingOpenZfs` uses one that was kept.
    - In one zone, that of the nodes, with a standby there.
    - Encrypted at rest, always: with the account's own key for FSx, `aws/fsx`, or a key of yours,
      which cannot be exchanged later.
    - Its security group alone decides who reaches it: TCP 2049 from the clients. Root of a client
      is root of the root volume, since nodes let all users write to it at their boot.
    - Backed up daily, for 7 days.
    - Where it is gets published to SSM Parameter Store under `/trainshed/openzfs/NAME`: `dns-name`
      and `volume-path`, which `FirstBoot` lets nodes read at boot.

    Attributes:
        file_system: the resource.
        security_group: of the file system.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed.spec import OpenZfsSpec
        from trainshed_constructs import OpenZfsFileSystem

        stack = Stack(App(), "Storage")
        vpc = ec2.Vpc(stack, "Vpc")
        OpenZfsFileSystem(
            stack,
            "OpenZfs",
            vpc=vpc,
            subnet=vpc.private_subnets[0],
            clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc),
            name="train",
            settings=OpenZfsSpec(mount="/home", capacity_gib=512, throughput=640),
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        clients: ec2.ISecurityGroup,
        name: str,
        settings: OpenZfsSpec,
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the file system.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: where its security group is.
            subnet: where the file system is, in the zone of the nodes.
            clients: security group of the nodes; it may belong to another stack.
            name: what clusters share it by.
            settings: size, throughput and the rest.
            kms_key_arn: key that encrypts it; by default FSx's own.
        """
        super().__init__(scope, construct_id)
        # One group that never changes: SecurityGroupIds is create-only.
        access = NfsSecurityGroup(
            self, "Access", vpc=vpc, clients=clients, description=OpenZfsPlan.title
        )
        self.security_group = access.security_group
        group_id = self.security_group.security_group_id
        # AWS's recipes for Slurm clusters: the creation fails while the group does not let NFS in
        # from itself. L1, because L2 makes the rule a part of the group, which `ExistingOpenZfs`
        # would not have.
        own_rule = ec2.CfnSecurityGroupIngress(
            self,
            "OwnRule",
            group_id=group_id,
            source_security_group_id=group_id,
            ip_protocol="tcp",
            description="NFS",
            from_port=NFS_PORT,
            to_port=NFS_PORT,
        )
        self.file_system = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="OPENZFS",
            storage_capacity=settings.capacity_gib,
            kms_key_id=kms_key_arn,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[group_id],
            open_zfs_configuration=_configuration(settings),
        )
        Tags.of(self.file_system).add("Name", name)
        for tagged in (self.file_system, self.security_group):
            Tags.of(tagged).add(f"trainshed:{OpenZfsPlan.kind}", name)
        # The group stays with the file system, which needs it; all is kept, except when the
        # creation itself fails, which leaves nothing worth keeping.
        for kept in (self.file_system, self.security_group, own_rule):
            kept.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        guard = ReplacementGuard(
            self,
            "Guard",
            kind=OpenZfsPlan.kind,
            name=name,
            # CloudFormation's reference of AWS::FSx::FileSystem: what is of the root volume needs a
            # replacement, too.
            properties={
                "FileSystemType": "OPENZFS",
                "StorageCapacity": settings.capacity_gib,
                "SubnetIds": [subnet.subnet_id],
                "SecurityGroupIds": [group_id],
                "DeploymentType": _DEPLOYMENT,
                "DataCompressionType": settings.compression.upper(),
                "KmsKeyId": kms_key_arn,
            },
            allow_replacement=settings.allow_replacement,
            how_to_allow="storage.openzfs.allow_replacement: true",
            how_to_adopt="storage.openzfs.existing",
        )
        self.file_system.node.add_dependency(guard, own_rule)
        publish(
            self,
            OpenZfsPlan,
            name=name,
            parameters={
                "dns-name": self.file_system.attr_dns_name,
                "volume-path": ROOT_VOLUME_PATH,
            },
        )


def _configuration(settings: OpenZfsSpec) -> _Configuration:
    return _Configuration(
        deployment_type=_DEPLOYMENT,
        throughput_capacity=settings.throughput,
        automatic_backup_retention_days=_BACKUP_DAYS,
        copy_tags_to_backups=True,
        copy_tags_to_volumes=True,
        root_volume_configuration=_RootVolume(
            data_compression_type=settings.compression.upper(),
            # exports(5): without no_root_squash root of a node is nobody, and could neither let
            # users write nor make their home folders.
            nfs_exports=[
                _Exports(
                    client_configurations=[
                        _Clients(clients="*", options=["rw", "crossmnt", "no_root_squash"])
                    ]
                )
            ],
        ),
    )
