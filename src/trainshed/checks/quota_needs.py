"""What clusters need of an account's quotas when all of them are at full size."""

from collections import Counter
from collections.abc import Sequence

from trainshed.catalogue import Quota, quota_for
from trainshed.catalogue.quotas import (
    EKS_CLUSTERS,
    EKS_NODE_GROUPS,
    EKS_NODES,
    ELASTIC_IPS,
    GP3_STORAGE,
    NETWORK_INTERFACES,
    VPCS,
)
from trainshed.plan import ClusterPlan, Fleet

_GIB_PER_TIB = 1024


def quota_needs(clusters: Sequence[ClusterPlan]) -> dict[Quota, int]:
    """Return how much clusters of one account and region need of each quota, without zeros."""
    needs: dict[Quota, int] = {}
    for cluster in clusters:
        if quota := quota_for(cluster.instance, cluster.capacity.kind):
            needs[quota] = needs.get(quota, 0) + cluster.vcpus
    new = [each for each in Fleet(clusters=tuple(clusters)).networks.values() if each.cidr]
    needs |= {
        VPCS: len(new),
        ELASTIC_IPS: sum(len(network.subnets) for network in new),
        NETWORK_INTERFACES: sum(_nodes(each) * interfaces_per_node(each) for each in clusters),
        GP3_STORAGE: -(-sum(_nodes(each) * _root_gib(each) for each in clusters) // _GIB_PER_TIB),
    }
    on_eks = [each for each in clusters if each.control_plane]
    # Of each control plane, beside the group of its system nodes.
    groups = Counter(each.control_plane.name for each in on_eks if each.control_plane)
    if on_eks:
        needs |= {
            EKS_CLUSTERS: len(groups),
            # Of the largest control plane, and of the largest group.
            EKS_NODE_GROUPS: 1 + max(groups.values()),
            EKS_NODES: max(map(_nodes, on_eks)),
        }
    return {quota: need for quota, need in needs.items() if need}


def interfaces_per_node(cluster: ClusterPlan) -> int:
    """Count the network interfaces of a node: its own, and that of a job."""
    return len(cluster.interfaces) + cluster.job_interface


def _nodes(cluster: ClusterPlan) -> int:
    return cluster.nodes.max


def _root_gib(cluster: ClusterPlan) -> int:
    return cluster.root_volume.gib
