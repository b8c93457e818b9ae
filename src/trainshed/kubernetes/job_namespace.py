"""The namespace of the jobs of a cluster, and the nodes that they get."""

from dataclasses import dataclass

from lightkube import Client

from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.nodes import KubernetesNode, find_nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNamespace:
    """The namespace of the jobs of one cluster.

    Attributes:
        client: of the API server.
        eks: the cluster, as EKS has it.
        cluster: its name, as in labels.
        namespace: of its jobs.
    """

    client: Client
    eks: EksCluster
    cluster: str
    namespace: str

    def nodes(self) -> tuple[KubernetesNode, ...]:
        """Return the nodes of the cluster."""
        return find_nodes(self.client, self.eks, self.cluster)
