"""Nodes of a cluster where Kubernetes places no more pods."""

from dataclasses import dataclass

from lightkube.models.meta_v1 import ObjectMeta
from lightkube.operators import not_in
from lightkube.resources.core_v1 import Node, Pod, PodEviction

from trainshed.kubernetes.client import accepting_absence, asking
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
        with `kubectl drain --ignore-daemonsets`. Pods that have ended stay, with what they printed.

        Raises:
            ApiRefusal: the API server refuses.
            Unreachable: it does not answer.
        """
        not_ended = not_in(("Succeeded", "Failed"))
        with asking(self.eks):
            pods = [
                *self.client.list(
                    Pod,
                    namespace=self.namespace,
                    fields={"spec.nodeName": name, "status.phase": not_ended},
                )
            ]
        for pod in pods:
            found = (pod.metadata and pod.metadata.name) or ""
            eviction = PodEviction(metadata=ObjectMeta(name=found, namespace=self.namespace))
            # It may have gone by itself.
            with accepting_absence(), asking(self.eks):
                self.client.create(eviction, found, namespace=self.namespace)
