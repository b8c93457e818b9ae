"""The stacks around a cluster's compute: shared ones, made once for each name, and its check."""

from collections.abc import Sequence

from constructs import Construct

from trainshed.plan import ClusterPlan, Fleet
from trainshed_stacks.containers_stack import ContainersStack
from trainshed_stacks.control_plane_stack import ControlPlaneStack
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.owned_stack import OwnedStack
from trainshed_stacks.prerequisites_stack import PrerequisitesStack
from trainshed_stacks.storage_stack import StorageStack


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
        self._prerequisites = {
            cluster.name: PrerequisitesStack(scope, cluster=cluster) for cluster in fleet.clusters
        }
        self._networks: dict[str, NetworkStack] = {}
        self._storages: dict[str, StorageStack] = {}
        self._control_planes: dict[str, ControlPlaneStack] = {}
        self._containers: dict[str, ContainersStack] = {}
        for name, network in fleet.networks.items():
            users = [c for c in fleet.clusters if c.network.stack_name == name]
            self._networks[name] = NetworkStack(scope, network=network, users=users)
            self._after_prerequisites(self._networks[name], users)
        for name, storage in fleet.storages.items():
            users = [c for c in fleet.clusters if name in [each.stack_name for each in c.storages]]
            self._storages[name] = StorageStack(
                scope, storage=storage, network=self.network(users[0]), users=users
            )
            self._after_prerequisites(self._storages[name], users)
        for cluster in fleet.clusters:
            self._lustre_after_bucket(cluster)
        for name, control_plane in fleet.control_planes.items():
            users = [c for c in fleet.clusters if c.control_plane == control_plane]
            self._control_planes[name] = ControlPlaneStack(
                scope, control_plane=control_plane, network=self.network(users[0]), users=users
            )
            self._after_prerequisites(self._control_planes[name], users)
        for name, repository in fleet.repositories.items():
            users = [c for c in fleet.clusters if c.repository == repository]
            self._containers[name] = ContainersStack(scope, repository=repository, users=users)
            self._after_prerequisites(self._containers[name], users)

    def _after_prerequisites(self, stack: OwnedStack, users: Sequence[ClusterPlan]) -> None:
        if len(users) == 1:
            stack.add_stack_dependency(self.prerequisites(users[0]))

    def _lustre_after_bucket(self, cluster: ClusterPlan) -> None:
        """FSx links no bucket that is not there."""
        lustre, bucket = cluster.lustre, cluster.bucket
        link = lustre.new.s3 if lustre and lustre.new else None
        if lustre and bucket and link and bucket.is_called(link.bucket):
            self._storages[lustre.stack_name].add_stack_dependency(
                self._storages[bucket.stack_name]
            )

    def prerequisites(self, cluster: ClusterPlan) -> PrerequisitesStack:
        """Return the stack that checks what a cluster needs."""
        return self._prerequisites[cluster.name]

    def network(self, cluster: ClusterPlan) -> NetworkStack:
        """Return the network stack of a cluster."""
        return self._networks[cluster.network.stack_name]

    def storages(self, cluster: ClusterPlan) -> tuple[StorageStack, ...]:
        """Return the storage stacks of a cluster."""
        return tuple(self._storages[each.stack_name] for each in cluster.storages)

    def control_plane(self, cluster: ClusterPlan) -> ControlPlaneStack | None:
        """Return the stack of a cluster's control plane, or None when it has none."""
        plan = cluster.control_plane
        return self._control_planes[plan.stack_name] if plan else None

    def containers(self, cluster: ClusterPlan) -> ContainersStack | None:
        """Return the containers stack of a cluster, or None when its image is from elsewhere."""
        return self._containers[cluster.repository.stack_name] if cluster.repository else None
