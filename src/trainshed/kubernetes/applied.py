"""What was applied of a cluster or a chart: found by its labels, and deleted."""

from collections.abc import Mapping, Sequence
from typing import Any

from lightkube import ALL_NS, ApiError, Client
from lightkube.core.resource import NamespacedResource
from lightkube.generic_resource import GenericNamespacedResource
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import (
    ConfigMap,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodTemplate,
    ServiceAccount,
)
from lightkube.resources.rbac_authorization_v1 import (
    ClusterRole,
    ClusterRoleBinding,
    Role,
    RoleBinding,
)

from trainshed.kubernetes.client import FIELD_MANAGER
from trainshed.kubernetes.object_names import name_of, where
from trainshed.kubernetes.objects import KubernetesObject
from trainshed.kubernetes.queue import (
    ClusterQueue,
    LocalQueue,
    QueueObject,
    ResourceFlavor,
    Topology,
    has_kueue,
)

# Every kind that a cluster has, or had in an earlier version; what needs others first.
CLUSTER_KINDS: tuple[type[KubernetesObject], ...] = (
    LocalQueue,
    ClusterQueue,
    ResourceFlavor,
    Topology,
    DaemonSet,
    PodTemplate,
    ClusterRoleBinding,
    ClusterRole,
    RoleBinding,
    Role,
    PersistentVolumeClaim,
    PersistentVolume,
    ServiceAccount,
    ConfigMap,
    Namespace,
)
_NAMESPACED = (NamespacedResource, GenericNamespacedResource)
_NOT_FOUND = 404


def find_applied(
    client: Client,
    labels: Mapping[str, str],
    kinds: Sequence[type[KubernetesObject]] = CLUSTER_KINDS,
) -> tuple[KubernetesObject, ...]:
    """Return what was applied with some labels, in the order in which it may be deleted.

    Without what is being deleted.

    Args:
        client: of the API server.
        labels: that the objects have in common.
        kinds: of objects that are looked for; by default those of a cluster.
    """
    found: list[KubernetesObject] = []
    # Of its overloads, none is for all kinds.
    listed: Any = client.list
    queues = has_kueue(client)
    for kind in kinds:
        if issubclass(kind, QueueObject) and not queues:
            continue
        everywhere = {"namespace": ALL_NS} if issubclass(kind, _NAMESPACED) else {}
        found += listed(kind, labels=dict(labels), **everywhere)
    return tuple(each for each in found if is_applied(each) and not _is_going(each))


def delete_applied(client: Client, found: KubernetesObject) -> None:
    """Delete an object, if it is still there."""
    try:
        client.delete(type(found), name_of(found), **where(found))
    except ApiError as error:
        if error.status.code != _NOT_FOUND:
            raise


def is_applied(each: KubernetesObject) -> bool:
    """Return whether we applied it: who copies an object copies its labels, too."""
    managers = (each.metadata and each.metadata.managedFields) or []
    return any(one.manager == FIELD_MANAGER and one.operation == "Apply" for one in managers)


def _is_going(each: KubernetesObject) -> bool:
    return bool(each.metadata and each.metadata.deletionTimestamp)
