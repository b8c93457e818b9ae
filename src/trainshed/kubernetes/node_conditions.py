"""Conditions of nodes that others than their kubelets write."""

from datetime import UTC, datetime

from lightkube import Client
from lightkube.resources.core_v1 import NodeStatus

from trainshed.kubernetes.client import asking
from trainshed.kubernetes.cluster import EksCluster

_TIME = "%Y-%m-%dT%H:%M:%SZ"


def report_problem(
    client: Client, cluster: EksCluster, node: str, *, condition: str, reason: str, message: str
) -> None:
    """Write that a condition of a node does not hold.

    Args:
        client: of the cluster's API server.
        cluster: as EKS has it.
        node: its name.
        condition: the type.
        reason: why, in one word.
        message: the same for people.

    Raises:
        ApiRefusal: the API server refuses.
        Unreachable: it does not answer.
    """
    now = datetime.now(UTC).strftime(_TIME)
    found = {
        "type": condition,
        "status": "False",
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }
    with asking(cluster):
        client.patch(NodeStatus, node, {"status": {"conditions": [found]}})
