"""A shared Lustre file system whose data outlives the stack."""

from collections.abc import Iterator

from aws_cdk import RemovalPolicy, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from constructs import Construct

from trainshed.plan import LustrePlan
from trainshed.spec import DeploymentType, LustreSpec, S3Link
from trainshed_constructs.custom_resources.replacement_guard.construct import (
    NAME_TAG,
    ReplacementGuard,
)
from trainshed_constructs.errors import ConstructError
from trainshed_constructs.storage.lustre_security_group import LustreSecurityGroup
from trainshed_constructs.storage.parameters import publish

# FSx's default is 2.10 or 2.12, depending on the deployment type; clients are 2.15.
_LUSTRE_VERSION = "2.15"
_BACKUP_DAYS = 7
_IMPORTED = ["NEW", "CHANGED", "DELETED"]
# Without DELETED: an `rm` on a node must not empty a bucket.
_EXPORTED = ["NEW", "CHANGED"]
_Lustre = fsx.CfnFileSystem.LustreConfigurationProperty
_Association = fsx.CfnDataRepositoryAssociation


class LustreFileSystem(Construct):
    """FSx for Lustre file system for the nodes of one or more clusters.

    Follows FSx's API reference, CreateFileSystem and CreateDataRepositoryAssociation, and the
    user guide of FSx for Lustre.

    - No deployment makes data disappear. Deleting the stack keeps the file system and its security
      group, and an update that would replace it, or a creation beside one that was kept under the
      same name, fails unless `settings.allow_replacement` (`ReplacementGuard`). Storage may grow in
      place. `ExistingLustre` uses one that was kept.
    - Where it is gets published to SSM Parameter Store under `/trainshed/lustre/NAME`: `dns-name`,
      `mount-name` and `file-system-id`, which `FirstBoot` lets nodes read at boot.
    - Encrypted at rest, always: with the account's own key for FSx, `aws/fsx`, when persistent, and
      with a key of the service when scratch. A key of the customer's cannot be exchanged later, and
      losing it loses the data; nothing here asks for one.
    - Backed up daily for 7 days, incrementally, where FSx can: persistent-2 without an S3 link.
    - With an S3 link, objects that appear, change or disappear in the bucket do so here; files that
      appear or change here do so in the bucket, and deleting one leaves its object. To link another
      bucket, deploy without a link first.
    - Maintenance falls into a weekly half hour that AWS chooses.

    Attributes:
        file_system: the resource.
        security_group: of the file system.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed.spec import LustreSpec
        from trainshed_constructs import LustreFileSystem

        stack = Stack(App(), "Storage")
        vpc = ec2.Vpc(stack, "Vpc")
        LustreFileSystem(
            stack,
            "Lustre",
            vpc=vpc,
            subnet=vpc.private_subnets[0],
            clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc),
            name="train",
            settings=LustreSpec(capacity_gib=4800, throughput=250, metadata_iops=6000),
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
        settings: LustreSpec,
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the file system.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: where its security group is.
            subnet: where the file system is; for EFA in the zone of the nodes.
            clients: security group of the nodes; it may belong to another stack.
            name: what clusters share it by.
            settings: size, speed and the rest, of a new one; persistent-2 needs its throughput.
            kms_key_arn: key that encrypts a persistent-2 file system; by default FSx's own. FSx
                encrypts scratch-2 with a key of its own in any case.

        Raises:
            ConstructError: FSx would refuse the settings.
        """
        super().__init__(scope, construct_id)
        if problems := tuple(_problems(settings)):
            raise ConstructError(self, "; ".join(problems))
        # One group that never changes: SecurityGroupIds is create-only.
        access = LustreSecurityGroup(self, "Access", vpc=vpc, clients=clients, efa=settings.efa)
        self.security_group = access.security_group
        group_ids = [self.security_group.security_group_id]
        subnet_ids = [subnet.subnet_id]
        if settings.deployment is not DeploymentType.PERSISTENT_2:
            kms_key_arn = None
        # L1: the L2 LustreFileSystem lacks EfaEnabled, MetadataConfiguration and associations.
        self.file_system = fsx.CfnFileSystem(
            self,
            _construct_id(settings),
            file_system_type="LUSTRE",
            file_system_type_version=_LUSTRE_VERSION,
            storage_capacity=settings.capacity_gib,
            kms_key_id=kms_key_arn,
            subnet_ids=subnet_ids,
            security_group_ids=group_ids,
            lustre_configuration=_configuration(settings),
        )
        tags = Tags.of(self.file_system)
        tags.add("Name", name)
        for each in (tags, Tags.of(self.security_group)):
            each.add(NAME_TAG, name)
        # Kept, except when its own creation fails, which leaves nothing worth keeping.
        self.file_system.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        guard = ReplacementGuard(
            self,
            "Guard",
            name=name,
            properties={
                "FileSystemType": "LUSTRE",
                "FileSystemTypeVersion": _LUSTRE_VERSION,
                "StorageCapacity": settings.capacity_gib,
                "SubnetIds": subnet_ids,
                "SecurityGroupIds": group_ids,
                "DeploymentType": settings.deployment.name,
                "PerUnitStorageThroughput": settings.throughput,
                "EfaEnabled": settings.efa,
                "KmsKeyId": kms_key_arn,
            },
            s3_link=_data_repository_path(settings.s3) if settings.s3 else None,
            allow_replacement=settings.allow_replacement,
            how_to_allow="storage.lustre.allow_replacement: true",
            how_to_adopt="storage.lustre.existing",
        )
        self.file_system.node.add_dependency(guard, *access.own_rules)
        if settings.s3:
            self._link(settings.s3)
        publish(
            self,
            LustrePlan,
            name=name,
            parameters={
                "dns-name": self.file_system.attr_dns_name,
                "mount-name": self.file_system.attr_lustre_mount_name,
                "file-system-id": self.file_system.ref,
            },
        )

    def _link(self, s3: S3Link) -> None:
        _Association(
            self,
            "S3",
            file_system_id=self.file_system.ref,
            file_system_path="/",
            data_repository_path=_data_repository_path(s3),
            batch_import_meta_data_on_create=True,
            s3=_Association.S3Property(
                auto_import_policy=_Association.AutoImportPolicyProperty(events=_IMPORTED),
                auto_export_policy=_Association.AutoExportPolicyProperty(events=_EXPORTED),
            ),
        )


def _data_repository_path(s3: S3Link) -> str:
    return f"s3://{s3.bucket}/{s3.prefix}"


def _construct_id(settings: LustreSpec) -> str:
    # Of another kind, so another resource: CloudFormation would try to change EfaEnabled in place,
    # which FSx does not do, and its sources disagree on DeploymentType.
    if settings.efa:
        return "EfaFileSystem"
    persistent = settings.deployment is DeploymentType.PERSISTENT_2
    return "PersistentFileSystem" if persistent else "ScratchFileSystem"


def _configuration(settings: LustreSpec) -> _Lustre:
    persistent = settings.deployment is DeploymentType.PERSISTENT_2
    # FSx backs up no file system that is linked to S3.
    backup_days = 0 if settings.s3 else _BACKUP_DAYS
    return _Lustre(
        deployment_type=settings.deployment.name,
        data_compression_type=settings.compression.upper(),
        per_unit_storage_throughput=settings.throughput,
        # EFA needs one, and without one FSx takes an older Lustre.
        metadata_configuration=fsx.CfnFileSystem.MetadataConfigurationProperty(
            mode="USER_PROVISIONED" if settings.metadata_iops else "AUTOMATIC",
            iops=settings.metadata_iops,
        )
        if persistent
        else None,
        efa_enabled=True if settings.efa else None,
        # Not CopyTagsToBackups: it is create-only and not for file systems with an S3 link, so a
        # link that is added later would replace the file system.
        automatic_backup_retention_days=backup_days if persistent else None,
    )


def _problems(settings: LustreSpec) -> Iterator[str]:
    if settings.deployment is DeploymentType.PERSISTENT_2:
        if settings.throughput is None:
            yield "persistent-2 needs a throughput (MB/s per TiB)"
        return
    persistent_only = {
        "throughput": settings.throughput,
        "metadata_iops": settings.metadata_iops,
        "efa": settings.efa,
    }
    for name, value in persistent_only.items():
        if value:
            yield f"{name} is for persistent-2 only"
