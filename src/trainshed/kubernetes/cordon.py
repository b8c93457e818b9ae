"""Nodes of a cluster where Kubernetes places no more pods."""

from dataclasses import dataclass

from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, Pod, PodEviction

from trainshed.kubernetes.client import asking
from trainshed.kubernetes.job_namespace import JobNamespace
from trainshed.kubernetes.nodes import KubernetesNode


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonedNodes(JobNamespace):
    """The nodes of one cluster."""

    def find(self, instance_id: str) -> KubernetesNode | None:
        """Return the node of an instance; None when it has not joined."""
        return next((each for each in self.nodes() if each.instance_id == instance_id), None)

    def cordon(self, name: str, *, cordoned: bool) -> None:
        """Have pods placed on a node no longer, or again.

        Args:
            name: of the node.
            cordoned: no longer.

        Raises:
            ApiRefusal: the API server refuses.
            Unreachable: it does not answer.
        """
        with asking(self.eks):
            self.client.patch(Node, name, {"spec": {"unschedulable": cordoned}})

    def evict(self, name: str) -> None:
        """Have the pods of jobs leave a node: they get SIGTERM, and the time that they ask for.

        Kubernetes, "API-initiated Eviction". Other pods have no job: those of DaemonSets stay, as
        with `kubectl drain --ignore-daemonsets`.

        Raises:
            ApiRefusal: the API server refuses.
            Unreachable: it does not answer.
        """
        with asking(self.eks):
            for pod in self.client.list(
                Pod, namespace=self.namespace, fields={"spec.nodeName": name}
            ):
                found = (pod.metadata and pod.metadata.name) or ""
                metadata = ObjectMeta(name=found, namespace=self.namespace)
                self.client.create(PodEviction(metadata=metadata), found, namespace=self.namespace)
