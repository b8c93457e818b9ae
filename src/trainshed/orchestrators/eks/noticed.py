"""What a rehearsal asks of a cluster's nodes, and waits for, before it submits its job."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import Any

from trainshed.errors import Failure
from trainshed.kubernetes.client import connect
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.nodes import KubernetesNode, find_nodes
from trainshed.rehearse.faults import Scene

# Until Kubernetes has noticed what happened to nodes, which takes it some seconds here.
_NOTICED_SECONDS, _LOOK_SECONDS = 120, 0.25


def node_group(scene: Scene) -> dict[str, Any]:
    """Return the node group of a cluster, as EKS describes it."""
    found: dict[str, Any] = scene.region.call(
        "eks",
        "describe_nodegroup",
        clusterName=scene.outputs["EksCluster"],
        nodegroupName=scene.outputs["NodeGroup"],
    )["nodegroup"]
    return found


def wait_for_nodes(scene: Scene, holds: Callable[[tuple[KubernetesNode, ...]], bool]) -> None:
    """Wait until something is true of the cluster's nodes: a job would begin before.

    Raises:
        Failure: it does not come about.
    """
    eks = find_cluster(scene.region, scene.outputs["EksCluster"])
    last = monotonic() + _NOTICED_SECONDS
    with connect(eks) as client:
        while not holds(find_nodes(client, eks, scene.cluster)):
            if monotonic() > last:
                raise Failure(
                    f"Kubernetes has not noticed the fault within {_NOTICED_SECONDS} seconds; run "
                    "the rehearsal again when this machine has less to do"
                )
            sleep(_LOOK_SECONDS)


def has_devices(node: KubernetesNode) -> bool:
    """Return whether a node promises any device."""
    # Kubernetes, "Device Plugins": the names of devices begin with the domain of their vendor.
    return any(count != "0" for name, count in node.allocatable.items() if "/" in name)
