"""What is in the namespace of a cluster, and is not the cluster's own."""

from collections.abc import Iterator
from typing import Any

from lightkube import Client
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
from lightkube.resources.autoscaling_v2 import HorizontalPodAutoscaler
from lightkube.resources.batch_v1 import CronJob, Job
from lightkube.resources.core_v1 import (
    ConfigMap,
    LimitRange,
    PersistentVolumeClaim,
    Pod,
    PodTemplate,
    ReplicationController,
    ResourceQuota,
    Secret,
    Service,
    ServiceAccount,
)
from lightkube.resources.networking_v1 import Ingress, NetworkPolicy
from lightkube.resources.policy_v1 import PodDisruptionBudget
from lightkube.resources.rbac_authorization_v1 import Role, RoleBinding

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.kubernetes.labels import OwnedObjects

# What people make. Events, leases and the like are made by Kubernetes.
_KINDS: tuple[Any, ...] = (
    *(PersistentVolumeClaim, Secret, ConfigMap, Service, Ingress, ServiceAccount, PodTemplate),
    *(Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, CronJob, Job, Pod),
    *(HorizontalPodAutoscaler, PodDisruptionBudget, NetworkPolicy, LimitRange, ResourceQuota),
    *(Role, RoleBinding),
)
# Kubernetes puts these into each namespace.
_EVERYWHERE = ("ConfigMap kube-root-ca.crt", "ServiceAccount default")


def others_in_namespace(client: Client, owned: OwnedObjects) -> tuple[str, ...]:
    """Return kind and name of what others made in the namespace; it goes with the namespace.

    What is made of another object, such as the pods of a job, goes with that, and is left out.

    Args:
        client: of the API server.
        owned: what the objects of the cluster have in common.
    """
    return tuple(_others(client, owned))


def _others(client: Client, owned: OwnedObjects) -> Iterator[str]:
    listed: Any = client.list
    for kind in (*_KINDS, *_custom(client)):
        for found in listed(kind, namespace=owned.namespace):
            metadata = found.metadata
            ours = (metadata.labels or {}).get(CLUSTER_LABEL) == owned.cluster
            name = f"{kind.__name__} {metadata.name}"
            if not (ours or metadata.ownerReferences or name in _EVERYWHERE):
                yield name


def _custom(client: Client) -> Iterator[Any]:
    """Yield the kinds that definitions of custom resources add, each in one version."""
    for definition in client.list(CustomResourceDefinition):
        spec = definition.spec
        # Of a kind that is no longer served there may be objects, which nobody can ask for.
        served = [each.name for each in spec.versions if each.served]
        if spec.scope == "Namespaced" and served:
            yield create_namespaced_resource(
                spec.group, served[0], spec.names.kind, spec.names.plural
            )
