"""The queue of a cluster's jobs, by Kueue: a job gets all its nodes at once, or waits for them.

Kueue documentation, "Cluster Queue" and "Topology Aware Scheduling".
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from lightkube import ApiError, Client
from lightkube.generic_resource import (
    GenericGlobalResource,
    GenericNamespacedResource,
    create_global_resource,
    create_namespaced_resource,
)
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.kubernetes.labels import OwnedObjects

GROUP, _VERSION = "kueue.x-k8s.io", "v1beta2"
# The name of the queue in the namespace of each cluster, and the label by which a job is in it.
QUEUE, QUEUE_LABEL = "jobs", f"{GROUP}/queue-name"
# By which a workload names the job that it is of.
JOB_UID_LABEL = f"{GROUP}/job-uid"

Topology = create_global_resource(GROUP, _VERSION, "Topology", "topologies")
ResourceFlavor = create_global_resource(GROUP, _VERSION, "ResourceFlavor", "resourceflavors")
ClusterQueue = create_global_resource(GROUP, _VERSION, "ClusterQueue", "clusterqueues")
LocalQueue = create_namespaced_resource(GROUP, _VERSION, "LocalQueue", "localqueues")
Workload = create_namespaced_resource(GROUP, _VERSION, "Workload", "workloads")

QueueObject: TypeAlias = GenericGlobalResource | GenericNamespacedResource
_Object = TypeVar("_Object", GenericGlobalResource, GenericNamespacedResource)

_HOST = "kubernetes.io/hostname"
_NOT_FOUND = 404
_QUANTITY = re.compile(r"(\d+)(\D*)")


def queue_objects(
    owned: OwnedObjects, *, nodes: int, resources: Mapping[str, str]
) -> Iterator[QueueObject]:
    """Return the queue of a cluster, and what it has to give.

    - The jobs of a cluster may have as much as its nodes give to pods that take whole nodes.
    - Kueue counts the nodes that are there: with quotas alone, a job would begin, and wait in part,
      while a node is being replaced.
    - The oldest job is next, also when a smaller one would fit before it: else a job that needs all
      nodes would wait as long as smaller ones come.

    Args:
        owned: names and labels of the cluster's objects.
        nodes: how many it has at most.
        resources: what a pod that takes a whole node asks for.
    """
    pool, queue = owned.name("nodes"), owned.name(QUEUE)
    yield _made(Topology, metadata=owned.metadata(pool), spec={"levels": [{"nodeLabel": _HOST}]})
    yield _made(
        ResourceFlavor,
        metadata=owned.metadata(pool),
        spec={"nodeLabels": {CLUSTER_LABEL: owned.cluster}, "topologyName": pool},
    )
    quotas = [
        {"name": name, "nominalQuota": _times(nodes, size)} for name, size in resources.items()
    ]
    group = {
        "coveredResources": [*resources],
        "flavors": [{"name": pool, "resources": quotas}],
    }
    yield _made(
        ClusterQueue,
        metadata=owned.metadata(queue),
        spec={
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": owned.namespace}},
            "queueingStrategy": "StrictFIFO",
            "resourceGroups": [group],
        },
    )
    yield _made(
        LocalQueue, metadata=owned.metadata(QUEUE, owned.namespace), spec={"clusterQueue": queue}
    )


def _made(kind: type[_Object], metadata: ObjectMeta, spec: Mapping[str, Any]) -> _Object:
    """Return an object with what says what it is, as files have it."""
    return kind(
        apiVersion=f"{GROUP}/{_VERSION}", kind=kind.__name__, metadata=metadata, spec=dict(spec)
    )


def why_not_active(found: Mapping[str, Any]) -> str:
    """Return why a ClusterQueue takes no jobs; empty when it does."""
    status: Mapping[str, Any] = found.get("status") or {}
    active = (each for each in status.get("conditions", []) if each["type"] == "Active")
    condition = next(active, {"status": "False", "message": "Kueue has not looked at it yet"})
    return "" if condition["status"] == "True" else str(condition["message"])


def has_kueue(client: Client) -> bool:
    """Return whether Kueue is installed."""
    try:
        client.get(CustomResourceDefinition, f"clusterqueues.{GROUP}")
    except ApiError as error:
        if error.status.code != _NOT_FOUND:
            raise
        return False
    return True


def _times(count: int, size: str) -> str:
    found = _QUANTITY.fullmatch(size)
    assert found
    return f"{count * int(found[1])}{found[2]}"
