"""Names and labels of what trainshed has in a cluster of Kubernetes: it owns nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass

from lightkube.models.meta_v1 import ObjectMeta

from trainshed.account.tags import CLUSTER_LABEL

# kubernetes.io, "Recommended Labels".
_MANAGED_BY, _COMPONENT = "app.kubernetes.io/managed-by", "app.kubernetes.io/component"
_US = "trainshed"
# What the cluster itself has; jobs come and go by themselves.
_CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedObjects:
    """What the objects of one cluster file have in common; clusters may share a control plane.

    Attributes:
        cluster: name of the cluster.
        namespace: of its jobs, which is no other cluster's.
    """

    cluster: str
    namespace: str

    @property
    def labels(self) -> Mapping[str, str]:
        """Labels by which its objects are found."""
        return {_MANAGED_BY: _US, _COMPONENT: _CLUSTER, CLUSTER_LABEL: self.cluster}

    def name(self, part: str) -> str:
        """Return the name of an object that is not in the namespace.

        Args:
            part: what it is, for instance `efa`.
        """
        return f"{_US}-{self.namespace}-{part}"

    def metadata(self, name: str, namespace: str | None = None) -> ObjectMeta:
        """Return the metadata of an object.

        Args:
            name: of it.
            namespace: that it is in; by default none.
        """
        return ObjectMeta(name=name, namespace=namespace, labels=dict(self.labels))
