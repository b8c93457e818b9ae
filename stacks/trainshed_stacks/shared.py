"""The stacks that clusters share: made once for each name."""

import aws_cdk as cdk
from constructs import Construct

from trainshed.plan import ClusterPlan, Fleet
from trainshed_stacks.images_stack import ImagesStack
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.security import secure
from trainshed_stacks.storage_stack import StorageStack
from trainshed_stacks.tags import tag


class SharedStacks:
    """Network, storage and image stacks of a fleet, found by the cluster that uses them."""

    def __init__(self, scope: Construct, fleet: Fleet) -> None:
        """Add the stacks.

        Args:
            scope: the app.
            fleet: every cluster that shares.
        """
        self._networks: dict[str, NetworkStack] = {}
        self._storages: dict[str, StorageStack] = {}
        self._images: dict[str, ImagesStack] = {}
        file_systems = fleet.file_systems.values()
        for stack_name, network in fleet.networks.items():
            users = [c for c in fleet.clusters if c.network.stack_name == stack_name]
            self._networks[stack_name] = NetworkStack(
                scope,
                stack_name,
                network=network,
                file_systems=[each.name for each in file_systems if each.network == network.name],
                env=environment(users[0]),
            )
            tag(self._networks[stack_name], network.name, users)
            secure(self._networks[stack_name], users[0].security)
        for stack_name, lustre in fleet.file_systems.items():
            users = [c for c in fleet.clusters if c.lustre and c.lustre.stack_name == stack_name]
            self._storages[stack_name] = StorageStack(
                scope,
                stack_name,
                lustre=lustre,
                network=self.network(users[0]),
                kms_key_arn=users[0].security.kms_key_arn,
                env=environment(users[0]),
            )
            tag(self._storages[stack_name], lustre.name, users)
            secure(self._storages[stack_name], users[0].security)
        for stack_name, repository in fleet.repositories.items():
            users = [c for c in fleet.clusters if c.repository == repository]
            self._images[stack_name] = ImagesStack(
                scope,
                stack_name,
                repository=repository,
                kms_key_arn=users[0].security.kms_key_arn,
                env=environment(users[0]),
            )
            tag(self._images[stack_name], repository.name, users)
            secure(self._images[stack_name], users[0].security)

    def network(self, cluster: ClusterPlan) -> NetworkStack:
        """Return the network stack of a cluster."""
        return self._networks[cluster.network.stack_name]

    def storage(self, cluster: ClusterPlan) -> StorageStack | None:
        """Return the storage stack of a cluster, or None when it has no storage."""
        return self._storages[cluster.lustre.stack_name] if cluster.lustre else None

    def images(self, cluster: ClusterPlan) -> ImagesStack | None:
        """Return the image stack of a cluster, or None when its image is from elsewhere."""
        return self._images[cluster.repository.stack_name] if cluster.repository else None


def environment(cluster: ClusterPlan) -> cdk.Environment:
    """Return where a cluster's stacks are deployed."""
    return cdk.Environment(account=cluster.account, region=cluster.region)
