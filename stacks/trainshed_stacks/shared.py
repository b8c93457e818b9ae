"""The stacks around a cluster's compute: shared ones, made once for each name, and its check."""

from collections.abc import Sequence

import aws_cdk as cdk
from constructs import Construct

from trainshed.plan import ClusterPlan, Fleet
from trainshed_stacks.containers_stack import ContainersStack
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.prerequisites_stack import PrerequisitesStack
from trainshed_stacks.security import secure
from trainshed_stacks.storage_stack import StorageStack
from trainshed_stacks.tags import tag


class SharedStacks:
    """Every stack of a fleet but the compute stacks, found by the cluster that uses it.

    What only one cluster uses is deployed after that cluster's prerequisites. What several share
    waits for none of them: the missing AMI of one cluster must not hold up another.

    Attributes:
        fleet: every cluster that shares.
    """

    def __init__(self, scope: Construct, fleet: Fleet) -> None:
        """Add the stacks.

        Args:
            scope: the app.
            fleet: every cluster that shares.
        """
        self.fleet = fleet
        self._networks: dict[str, NetworkStack] = {}
        self._storages: dict[str, StorageStack] = {}
        self._containers: dict[str, ContainersStack] = {}
        self._prerequisites = {
            cluster.name: PrerequisitesStack(
                scope,
                cluster.prerequisites_stack_name,
                ami=cluster.ami,
                env=environment(cluster),
            )
            for cluster in fleet.clusters
        }
        for cluster in fleet.clusters:
            tag(self.prerequisites(cluster), cluster.name, [cluster])
            secure(self.prerequisites(cluster), cluster.security)
        file_systems = fleet.file_systems.values()
        for stack_name, network in fleet.networks.items():
            users = [c for c in fleet.clusters if c.network.stack_name == stack_name]
            self._networks[stack_name] = NetworkStack(
                scope,
                stack_name,
                network=network,
                file_systems=[each.name for each in file_systems if each.network == network.name],
                users=_stacks_in(users),
                env=environment(users[0]),
            )
            self._complete(self._networks[stack_name], network.name, users)
        for stack_name, lustre in fleet.file_systems.items():
            users = [c for c in fleet.clusters if c.lustre and c.lustre.stack_name == stack_name]
            self._storages[stack_name] = StorageStack(
                scope,
                stack_name,
                lustre=lustre,
                network=self.network(users[0]),
                kms_key_arn=users[0].security.kms_key,
                env=environment(users[0]),
            )
            self._complete(self._storages[stack_name], lustre.name, users)
        for stack_name, repository in fleet.repositories.items():
            users = [c for c in fleet.clusters if c.repository == repository]
            self._containers[stack_name] = ContainersStack(
                scope,
                stack_name,
                repository=repository,
                kms_key_arn=users[0].security.kms_key,
                env=environment(users[0]),
            )
            self._complete(self._containers[stack_name], repository.name, users)

    def _complete(self, stack: cdk.Stack, name: str, users: Sequence[ClusterPlan]) -> None:
        tag(stack, name, users)
        secure(stack, users[0].security)
        if len(users) == 1:
            stack.add_stack_dependency(self.prerequisites(users[0]))

    def prerequisites(self, cluster: ClusterPlan) -> PrerequisitesStack:
        """Return the stack that checks what a cluster needs."""
        return self._prerequisites[cluster.name]

    def network(self, cluster: ClusterPlan) -> NetworkStack:
        """Return the network stack of a cluster."""
        return self._networks[cluster.network.stack_name]

    def storage(self, cluster: ClusterPlan) -> StorageStack | None:
        """Return the storage stack of a cluster, or None when it has no storage."""
        return self._storages[cluster.lustre.stack_name] if cluster.lustre else None

    def containers(self, cluster: ClusterPlan) -> ContainersStack | None:
        """Return the containers stack of a cluster, or None when its image is from elsewhere."""
        return self._containers[cluster.repository.stack_name] if cluster.repository else None


def _stacks_in(clusters: Sequence[ClusterPlan]) -> list[str]:
    """Name the stacks of clusters that import from their network's."""
    storage = [cluster.lustre.stack_name for cluster in clusters if cluster.lustre]
    return sorted({*(cluster.name for cluster in clusters), *storage})


def environment(cluster: ClusterPlan) -> cdk.Environment:
    """Return where a cluster's stacks are deployed."""
    return cdk.Environment(account=cluster.account, region=cluster.region)
