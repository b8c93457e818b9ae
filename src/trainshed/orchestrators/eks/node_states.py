"""What a managed node group, and the API server of its cluster, say of the nodes."""

from collections.abc import Mapping

from trainshed.account.scaling_groups import why_no_launch
from trainshed.aws import Region
from trainshed.jobs.node_states import NodeStates
from trainshed.jobs.why.questions import Questions
from trainshed.kubernetes.client import connect
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.node_group import ManagedNodeGroup, find_node_group
from trainshed.kubernetes.nodes import KubernetesNode, find_nodes


def kept_nodes(region: Region, outputs: Mapping[str, str]) -> int:
    """Return how many nodes are there without a job.

    Args:
        region: the cluster's.
        outputs: of its stack.
    """
    return find_node_group(region, outputs["EksCluster"], outputs["NodeGroup"]).wanted_nodes


def look(
    region: Region, cluster: str, outputs: Mapping[str, str], questions: Questions
) -> NodeStates:
    """Ask for them.

    Args:
        region: the cluster's.
        cluster: its name.
        outputs: of its stack.
        questions: ask them, and note what AWS or the API server refuses.
    """
    eks, name = outputs["EksCluster"], outputs["NodeGroup"]
    no_group: ManagedNodeGroup | None = None
    group = questions.ask(lambda: find_node_group(region, eks, name), no_group)
    no_launch: str | None = None
    if group:
        names = group.scaling_groups
        no_launch = questions.ask(lambda: why_no_launch(region, names), None)
    no_nodes: tuple[KubernetesNode, ...] | None = None
    nodes = questions.ask(lambda: _nodes(region, eks, cluster), no_nodes)
    return NodeStates(
        wanted=group.wanted_nodes if group else None,
        reached=None
        if nodes is None
        else frozenset(each.instance_id for each in nodes if each.ready),
        drained=frozenset(each.instance_id for each in nodes or () if each.cordoned),
        problems=(
            *([no_launch] if no_launch else ()),
            *(map(str, group.issues) if group else ()),
        ),
    )


def _nodes(region: Region, eks_cluster: str, cluster: str) -> tuple[KubernetesNode, ...]:
    eks = find_cluster(region, eks_cluster)
    with connect(eks) as client:
        return find_nodes(client, eks, cluster)
