"""The data: outlives every cluster that reads it."""

from collections.abc import Sequence

from constructs import Construct

from trainshed.plan import ClusterPlan, LustrePlan
from trainshed_constructs import ExistingLustre, LustreFileSystem, UnprotectOnRollback
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.owned_stack import OwnedStack


class StorageStack(OwnedStack):
    """One Lustre file system, new or existing, kept when the stack goes.

    The stack is protected from deletion from the end of its creation: running nodes need the
    rules and the parameters in it.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        lustre: LustrePlan,
        network: NetworkStack,
        users: Sequence[ClusterPlan],
    ) -> None:
        """Declare the stack, called as the plan says.

        Args:
            scope: the app.
            lustre: the file system.
            network: stack of the network that it is in.
            users: the clusters that mount it; their key encrypts the data.
        """
        super().__init__(
            scope,
            lustre.stack_name,
            owners=users,
            cluster=lustre.name,
            description="Shared data of training clusters",
            protected=True,
        )
        vpc, clients = network.network.vpc, network.storage_clients[lustre.name]
        file_system: Construct
        if lustre.new is None:
            assert lustre.existing
            file_system = ExistingLustre(
                self,
                "Lustre",
                vpc=vpc,
                clients=clients,
                name=lustre.name,
                file_system_id=lustre.existing,
                efa=lustre.efa,
            )
        else:
            assert lustre.zone
            file_system = LustreFileSystem(
                self,
                "Lustre",
                vpc=vpc,
                subnet=network.network.private_subnet(lustre.zone.name),
                clients=clients,
                name=lustre.name,
                settings=lustre.new,
                kms_key_arn=users[0].security.kms_key,
            )
        UnprotectOnRollback(self, "Protection").before(file_system)
