"""A shared EFS file system whose data outlives the stack."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import RemovalPolicy, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_efs as efs
from constructs import Construct

from trainshed.plan import EfsPlan
from trainshed.spec import EfsSpec
from trainshed_constructs.custom_resources.replacement_guard.construct import ReplacementGuard
from trainshed_constructs.storage.nfs_security_group import NfsSecurityGroup
from trainshed_constructs.storage.parameters import publish

_Lifecycle = efs.CfnFileSystem.LifecyclePolicyProperty


class EfsFileSystem(Construct):
    """Amazon EFS file system for the nodes of one or more clusters.

    Follows EFS's API reference, CreateFileSystem, and the EFS user guide.

    - No deployment makes data disappear. Deleting the stack keeps the file system, and an update
      that would replace it, or a creation beside one that was kept under the same name, fails
      unless `settings.allow_replacement` (`ReplacementGuard`). Its mount targets and their group go
      with the stack, so that the network may go, too; `ExistingEfs` makes them anew.
    - Regional, with a mount target in the zone of each subnet, so that nodes stay in their zone.
    - Elastic throughput: EFS's default, bursting, is slow while little is stored.
    - Encrypted at rest, always: with the account's own key for EFS, `aws/elasticfilesystem`, or a
      key of yours, which cannot be exchanged later.
    - Encrypted in transit: the file system's policy refuses clients without TLS, and those that do
      not come through a mount target.
    - What nobody reads moves to Infrequent Access and to Archive, and comes back when it is read.
    - Its id is published to SSM Parameter Store as `/trainshed/efs/NAME/file-system-id`, which
      `FirstBoot` lets nodes read at boot.

    Attributes:
        file_system: the resource.
        security_group: of the mount targets.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed.spec import EfsSpec
        from trainshed_constructs import EfsFileSystem

        stack = Stack(App(), "Storage")
        vpc = ec2.Vpc(stack, "Vpc")
        EfsFileSystem(
            stack,
            "Efs",
            vpc=vpc,
            subnets={"usw2-az1": vpc.private_subnets[0]},
            clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc),
            name="train",
            settings=EfsSpec(mount="/home"),
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
        settings: EfsSpec,
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the file system.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: where its mount targets are.
            subnets: of the mount targets, by zone.
            clients: security group of the nodes; it may belong to another stack.
            name: what clusters share it by.
            settings: lifecycle, backup and the rest.
            kms_key_arn: key that encrypts it; by default EFS's own.
        """
        super().__init__(scope, construct_id)
        access = NfsSecurityGroup(
            self, "Access", vpc=vpc, clients=clients, description="EFS file system"
        )
        self.security_group = access.security_group
        self.file_system = efs.CfnFileSystem(
            self,
            "FileSystem",
            encrypted=True,
            kms_key_id=kms_key_arn,
            throughput_mode="elastic",
            lifecycle_policies=list(_lifecycle(settings)),
            backup_policy=efs.CfnFileSystem.BackupPolicyProperty(
                status="ENABLED" if settings.backup else "DISABLED"
            ),
            file_system_policy=_POLICY,
        )
        Tags.of(self.file_system).add("Name", name)
        Tags.of(self.file_system).add(f"trainshed:{EfsPlan.kind}", name)
        # Kept, except when its own creation fails, which leaves nothing worth keeping.
        self.file_system.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        guard = ReplacementGuard(
            self,
            "Guard",
            kind=EfsPlan.kind,
            name=name,
            properties={"KmsKeyId": kms_key_arn},
            allow_replacement=settings.allow_replacement,
            how_to_allow="storage.efs.allow_replacement: true",
            how_to_adopt="storage.efs.existing",
        )
        self.file_system.node.add_dependency(guard)
        for zone, subnet in subnets.items():
            efs.CfnMountTarget(
                self,
                f"MountTarget{zone}",
                file_system_id=self.file_system.ref,
                subnet_id=subnet.subnet_id,
                security_groups=[self.security_group.security_group_id],
            )
        publish(self, EfsPlan, name=name, parameters={"file-system-id": self.file_system.ref})


def _lifecycle(settings: EfsSpec) -> list[_Lifecycle]:
    """Return the policies, each with one transition, as the API has it."""
    policies = []
    if settings.infrequent_access_days:
        policies.append(_Lifecycle(transition_to_ia=_after(settings.infrequent_access_days)))
    if settings.archive_days:
        policies.append(_Lifecycle(transition_to_archive=_after(settings.archive_days)))
    if policies:
        policies.append(_Lifecycle(transition_to_primary_storage_class="AFTER_1_ACCESS"))
    return policies


def _after(days: int) -> str:
    return f"AFTER_{days}_DAY" + ("" if days == 1 else "S")


# EFS user guide, "Resource-based policy examples": read-write access through mount targets, and
# TLS enforced. Whoever reaches a mount target needs no IAM; security groups decide that.
_POLICY: Mapping[str, Any] = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Sid": "MountTargets",
            "Effect": "Allow",
            "Principal": {"AWS": "*"},
            "Action": [
                "elasticfilesystem:ClientMount",
                "elasticfilesystem:ClientRootAccess",
                "elasticfilesystem:ClientWrite",
            ],
            "Condition": {"Bool": {"elasticfilesystem:AccessedViaMountTarget": "true"}},
        },
        {
            "Sid": "TlsOnly",
            "Effect": "Deny",
            "Principal": {"AWS": "*"},
            "Action": "elasticfilesystem:Client*",
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    ],
}
