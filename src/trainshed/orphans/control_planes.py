"""Control planes of Kubernetes, and what Kubernetes made by itself."""

from collections.abc import Iterator
from typing import Any

from trainshed.account.billed import Billed, unprotect_eks_cluster
from trainshed.account.tags import CLUSTER_TAG
from trainshed.aws import accepting
from trainshed.orphans.keys import KEY_ACTIONS, our_keys
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.prices import EKS_HOUR
from trainshed.teardown.kubernetes import made_by_kubernetes


def _clusters(place: SearchedRegion) -> Iterator[Candidate]:
    for name in place.region.pages("eks", "list_clusters", "clusters"):
        # Gone meanwhile.
        with accepting("ResourceNotFoundException"):
            found = place.region.call("eks", "describe_cluster", name=name)["cluster"]
            if CLUSTER_TAG in found.get("tags", {}):
                yield Candidate(billed=_cluster_billed(place, found), why="a control plane")


def _cluster_billed(place: SearchedRegion, cluster: dict[str, Any]) -> Billed:
    name = cluster["name"]
    groups = place.region.pages("eks", "list_nodegroups", "nodegroups", clusterName=name)
    # EKS user guide, "Delete a cluster": it goes after its node groups, and without protection.
    steps = [
        f"aws eks delete-nodegroup --cluster-name {name} --nodegroup-name {group} && "
        f"aws eks wait nodegroup-deleted --cluster-name {name} --nodegroup-name {group}"
        for group in groups
    ]
    if cluster.get("deletionProtection"):
        steps.append(unprotect_eks_cluster(name))
    return Billed(
        what="EKS cluster",
        name=name,
        size=f"Kubernetes {cluster['version']}",
        since=cluster.get("createdAt"),
        charges=((EKS_HOUR, 1),),
        command=" && ".join([*steps, f"aws eks delete-cluster --name {name}"]),
    )


def _of_kubernetes(place: SearchedRegion) -> Iterator[Candidate]:
    """Yield what control planes that are gone have left, as their keys and cluster files tell."""
    there = {*place.region.pages("eks", "list_clusters", "clusters")}
    planned = {each.control_plane.name for each in place.clusters if each.control_plane}
    keys, refused = our_keys(place.region)
    keyed = {each.eks_cluster for each in keys if each.eks_cluster}
    for cluster in sorted((keyed | planned) - there):
        for made in made_by_kubernetes(place.region, cluster):
            yield Candidate(
                billed=made.billed,
                why=f"Kubernetes of {cluster} made it",
                kept=made.billed.what == "volume",
            )
    if refused:
        raise refused


CONTROL_PLANE_LOOKS = (
    OrphanSearch(
        at="what Kubernetes made",
        types=(),
        actions=(
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeVolumes",
            "eks:ListClusters",
            "elasticloadbalancing:DescribeLoadBalancers",
            "elasticloadbalancing:DescribeTags",
            *KEY_ACTIONS,
        ),
        find=_of_kubernetes,
    ),
    OrphanSearch(
        at="EKS clusters",
        types=("AWS::EKS::Cluster",),
        actions=("eks:DescribeCluster", "eks:ListClusters", "eks:ListNodegroups"),
        find=_clusters,
    ),
)
