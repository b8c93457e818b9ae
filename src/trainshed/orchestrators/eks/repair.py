"""Nodes of Amazon EKS that are taken out of service: Kubernetes places no more pods there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from trainshed.account import scaling_groups
from trainshed.aws import Region
from trainshed.errors import Failure
from trainshed.jobs.nodes import Node
from trainshed.kubernetes.client import connect as connect_client
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.cordon import CordonedNodes
from trainshed.kubernetes.node_group import find_node_group


def connect(region: Region, cluster: str, outputs: Mapping[str, str]) -> "EksNodeControl":
    """Return what takes nodes of a cluster out of service; its API server is not asked yet.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
    """

    @cache
    def nodes() -> CordonedNodes:
        eks = find_cluster(region, outputs["EksCluster"])
        return CordonedNodes(
            client=connect_client(eks), eks=eks, cluster=cluster, namespace=outputs["Namespace"]
        )

    return EksNodeControl(
        region=region,
        eks_cluster=outputs["EksCluster"],
        node_group=outputs["NodeGroup"],
        nodes=nodes,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EksNodeControl:
    """Takes nodes of a managed node group out of service and back.

    Attributes:
        lost_job: what becomes of a job that loses its node.
        region: the cluster's.
        eks_cluster: name of the cluster of Amazon EKS.
        node_group: name of the node group.
        nodes: gives those of the cluster.
    """

    lost_job: ClassVar[str] = (
        "its pod gets SIGTERM, and all its nodes start again, while job.attempts lasts"
    )

    region: Region
    eks_cluster: str
    node_group: str
    nodes: Callable[[], CordonedNodes]

    def host(self, node: Node) -> str:
        """Return the name that Kubernetes has for it."""
        found = self.nodes().find(node.instance_id)
        return found.name if found else ""

    def is_drained(self, node: Node) -> bool:
        """Whether it is cordoned."""
        found = self.nodes().find(node.instance_id)
        return found is not None and found.cordoned

    def is_joined(self, node: Node) -> bool:
        """Whether its kubelet takes pods."""
        found = self.nodes().find(node.instance_id)
        return found is not None and found.ready

    def drain(self, node: Node) -> None:
        """Cordon it."""
        self.nodes().cordon(self._name(node), cordoned=True)

    def undrain(self, node: Node) -> None:
        """Have pods placed there again."""
        self.nodes().cordon(self._name(node), cordoned=False)

    def evict(self, node: Node) -> bool:
        """Evict the pods of jobs."""
        self.nodes().evict(self._name(node))
        return True

    def why_no_launch(self) -> str | None:
        """Say that launches are suspended."""
        group = find_node_group(self.region, self.eks_cluster, self.node_group)
        return scaling_groups.why_no_launch(self.region, group.scaling_groups)

    def terminate(self, node: Node) -> None:
        """Have the group of the node group terminate and replace it."""
        scaling_groups.replace(self.region, node.instance_id)

    def _name(self, node: Node) -> str:
        if name := self.host(node):
            return name
        raise Failure(
            f"{node.instance_id} has not joined {self.eks_cluster}, so it takes no jobs yet; wait "
            "until it has, or see its console: aws ec2 get-console-output --output text "
            f"--instance-id {node.instance_id}"
        )
