"""The data: outlives every cluster that reads it."""

import aws_cdk as cdk
from constructs import Construct

from trainshed.plan import LustrePlan
from trainshed_constructs import LustreFileSystem
from trainshed_stacks.network_stack import NetworkStack


class StorageStack(cdk.Stack):
    """One Lustre file system, protected from deletion and kept when the stack goes.

    Attributes:
        file_system: the construct.
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
        assert lustre.zone
        self.file_system = LustreFileSystem(
            self,
            "Lustre",
            vpc=network.network.vpc,
            subnet=network.network.private_subnet(lustre.zone.name),
            clients=network.storage_clients[lustre.name],
            plan=lustre,
            kms_key_arn=kms_key_arn,
        )
