"""The data: outlives every cluster that reads it."""

from collections.abc import Sequence

from constructs import Construct

from trainshed.plan import BucketPlan, ClusterPlan, EfsPlan, LustrePlan, OpenZfsPlan, StoragePlan
from trainshed_constructs import (
    DataBucket,
    EfsFileSystem,
    ExistingBucket,
    ExistingEfs,
    ExistingLustre,
    ExistingOpenZfs,
    LustreFileSystem,
    OpenZfsFileSystem,
    UnprotectOnRollback,
)
from trainshed_stacks.data_bucket import bucket_name
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.owned_stack import OwnedStack


class StorageStack(OwnedStack):
    """Shared storage of one kind, new or existing, kept when the stack goes.

    The stack is protected from deletion from the end of its creation: running nodes need the
    rules and the parameters in it.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        storage: StoragePlan,
        network: NetworkStack,
        users: Sequence[ClusterPlan],
    ) -> None:
        """Declare the stack, called as the plan says.

        Args:
            scope: the app.
            storage: what is in it.
            network: stack of the network that it is in.
            users: the clusters that mount it; their key encrypts the data.
        """
        super().__init__(
            scope,
            storage.stack_name,
            owners=users,
            cluster=storage.name,
            description="Shared data of training clusters",
            protected=True,
        )
        made: Construct
        match storage:
            case LustrePlan():
                made = self._lustre(storage, network, users[0].security.kms_key)
            case EfsPlan():
                made = self._efs(storage, network, users)
            case OpenZfsPlan():
                made = self._openzfs(storage, network, users[0].security.kms_key)
            case BucketPlan():
                made = self._bucket(storage, users[0])
            case _:
                raise TypeError(f"no stack is made for storage of kind {storage.kind}")
        UnprotectOnRollback(self, "Protection").before(made)

    def _lustre(self, lustre: LustrePlan, network: NetworkStack, kms_key: str | None) -> Construct:
        vpc, clients = network.network.vpc, network.storage_clients[lustre.stack_name]
        if lustre.new is None:
            assert lustre.existing
            return ExistingLustre(
                self,
                "Lustre",
                vpc=vpc,
                clients=clients,
                name=lustre.name,
                file_system_id=lustre.existing,
                efa=lustre.efa,
            )
        assert lustre.zone
        return LustreFileSystem(
            self,
            "Lustre",
            vpc=vpc,
            subnet=network.network.private_subnet(lustre.zone.name),
            clients=clients,
            name=lustre.name,
            settings=lustre.new,
            kms_key_arn=kms_key,
        )

    def _efs(
        self, efs: EfsPlan, network: NetworkStack, users: Sequence[ClusterPlan]
    ) -> EfsFileSystem | ExistingEfs:
        zones = dict.fromkeys(user.zone.name for user in users)
        subnets = {zone: network.network.private_subnet(zone) for zone in zones}
        vpc, clients = network.network.vpc, network.storage_clients[efs.stack_name]
        if efs.new is None:
            assert efs.existing
            return ExistingEfs(
                self,
                "Efs",
                vpc=vpc,
                subnets=subnets,
                clients=clients,
                name=efs.name,
                file_system_id=efs.existing,
            )
        return EfsFileSystem(
            self,
            "Efs",
            vpc=vpc,
            subnets=subnets,
            clients=clients,
            name=efs.name,
            settings=efs.new,
            kms_key_arn=users[0].security.kms_key,
        )

    def _openzfs(
        self, openzfs: OpenZfsPlan, network: NetworkStack, kms_key: str | None
    ) -> OpenZfsFileSystem | ExistingOpenZfs:
        vpc, clients = network.network.vpc, network.storage_clients[openzfs.stack_name]
        if openzfs.new is None:
            assert openzfs.existing
            return ExistingOpenZfs(
                self,
                "OpenZfs",
                vpc=vpc,
                clients=clients,
                name=openzfs.name,
                file_system_id=openzfs.existing,
            )
        assert openzfs.zone
        return OpenZfsFileSystem(
            self,
            "OpenZfs",
            vpc=vpc,
            subnet=network.network.private_subnet(openzfs.zone.name),
            clients=clients,
            name=openzfs.name,
            settings=openzfs.new,
            kms_key_arn=kms_key,
        )

    def _bucket(self, bucket: BucketPlan, user: ClusterPlan) -> DataBucket | ExistingBucket:
        name = bucket_name(user, bucket)
        if bucket.new is None:
            return ExistingBucket(
                self,
                "Bucket",
                name=bucket.name,
                bucket_name=name,
                mount_prefix=bucket.mount_prefix,
            )
        return DataBucket(
            self,
            "Bucket",
            name=bucket.name,
            bucket_name=name,
            mount_prefix=bucket.mount_prefix,
            lifecycle=bucket.new.lifecycle,
            kms_key_arn=user.security.kms_key,
        )
