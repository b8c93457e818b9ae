"""What clusters need of an account's quotas when all of them are at full size."""

from collections import Counter
from collections.abc import Iterable, Sequence

from trainshed.catalogue import Quota, quota_for
from trainshed.catalogue.quotas import (
    EKS_CLUSTERS,
    EKS_NODE_GROUPS,
    EKS_NODES,
    ELASTIC_IPS,
    GP3_STORAGE,
    IO2_IOPS,
    IO2_STORAGE,
    NETWORK_INTERFACES,
    VPCS,
)
from trainshed.plan import ClusterPlan, Fleet, ScratchVolumes
from trainshed.spec import VolumeType

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
        GP3_STORAGE: _tib(_nodes(each) * _gp3_gib(each) for each in clusters),
        IO2_STORAGE: _tib(_nodes(each) * scratch_gib(each, VolumeType.IO2) for each in clusters),
        IO2_IOPS: sum(_nodes(each) * _io2_iops(each) for each in clusters),
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


def scratch_gib(cluster: ClusterPlan, volume_type: VolumeType) -> int:
    """Return the size of a node's scratch volumes of a type; 0 if it has none."""
    volumes = _scratch_volumes(cluster, volume_type)
    return volumes.count * volumes.gib if volumes else 0


def _io2_iops(cluster: ClusterPlan) -> int:
    volumes = _scratch_volumes(cluster, VolumeType.IO2)
    return volumes.count * volumes.iops if volumes else 0


def _scratch_volumes(cluster: ClusterPlan, volume_type: VolumeType) -> ScratchVolumes | None:
    volumes = cluster.scratch.volumes if cluster.scratch else None
    return volumes if volumes and volumes.type is volume_type else None


def _gp3_gib(cluster: ClusterPlan) -> int:
    return cluster.root_volume.gib + scratch_gib(cluster, VolumeType.GP3)


def _tib(gib: Iterable[int]) -> int:
    return -(-sum(gib) // _GIB_PER_TIB)
