"""The data: outlives every cluster that reads it."""

import aws_cdk as cdk
from constructs import Construct

from trainshed.plan import LustrePlan
from trainshed_constructs import ExistingLustre, LustreFileSystem, UnprotectOnRollback
from trainshed_stacks.network_stack import NetworkStack


class StorageStack(cdk.Stack):
    """One Lustre file system, new or existing, kept when the stack goes.

    The stack is protected from deletion from the end of its creation: running nodes need the
    rules and the parameters in it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        lustre: LustrePlan,
        network: NetworkStack,
        kms_key_arn: str | None,
        env: cdk.Environment,
    ) -> None:
        """Declare the stack.

        Args:
            scope: the app.
            construct_id: the stack's name.
            lustre: the file system.
            network: stack of the network that it is in.
            kms_key_arn: key that encrypts the data; None for AWS's own.
            env: account and region.
        """
        super().__init__(
            scope,
            construct_id,
            env=env,
            description="Shared data of training clusters",
            termination_protection=True,
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
                kms_key_arn=kms_key_arn,
            )
        UnprotectOnRollback(self, "Protection").before(file_system)
