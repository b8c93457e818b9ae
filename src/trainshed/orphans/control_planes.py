"""Control planes of Kubernetes, their keys, and what Kubernetes made by itself."""

from collections.abc import Iterator
from typing import Any

from trainshed.account.billed import Billed, key_billed
from trainshed.account.tags import CLUSTER_TAG
from trainshed.aws import AwsRefusal, accepting
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.prices import EKS_HOUR
from trainshed.teardown.kubernetes import made_by_kubernetes

_KEY_ACTIONS = ("kms:DescribeKey", "kms:ListKeys", "kms:ListResourceTags")


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


def _keys(place: SearchedRegion) -> Iterator[Candidate]:
    for key, cluster in _our_keys(place):
        yield Candidate(
            billed=key_billed(key["KeyId"], key.get("CreationDate")),
            why=f"it encrypts the secrets of the EKS cluster {cluster} in every backup",
            kept=True,
        )


def _our_keys(place: SearchedRegion) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield keys of control planes that are not deleted, each with the name of the EKS cluster.

    The policy of a key may refuse what IAM allows: then the others are looked at first.
    """
    refused: AwsRefusal | None = None
    for each in place.region.pages("kms", "list_keys", "Keys"):
        key = {"KeyId": each["KeyId"]}
        try:
            answer = place.region.call("kms", "list_resource_tags", **key)
            tags = {tag["TagKey"]: tag["TagValue"] for tag in answer["Tags"]}
            if CLUSTER_TAG in tags:
                found = place.region.call("kms", "describe_key", **key)["KeyMetadata"]
                if found["KeyState"] != "PendingDeletion":
                    yield found, tags[CLUSTER_TAG]
        except AwsRefusal as error:
            refused = refused or error
    if refused:
        raise refused


def _of_kubernetes(place: SearchedRegion) -> Iterator[Candidate]:
    """Yield what control planes that are gone have left, as their keys and cluster files tell."""
    there = {*place.region.pages("eks", "list_clusters", "clusters")}
    planned = {each.control_plane.name for each in place.clusters if each.control_plane}
    for cluster in sorted({*(name for _, name in _our_keys(place)), *planned} - there):
        for made in made_by_kubernetes(place.region, cluster):
            yield Candidate(
                billed=made.billed,
                why=f"Kubernetes of {cluster} made it",
                kept=made.billed.what == "volume",
            )


CONTROL_PLANE_LOOKS = (
    OrphanSearch(
        at="what Kubernetes made",
        actions=(
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeVolumes",
            "eks:ListClusters",
            "elasticloadbalancing:DescribeLoadBalancers",
            "elasticloadbalancing:DescribeTags",
            *_KEY_ACTIONS,
        ),
        find=_of_kubernetes,
    ),
    OrphanSearch(
        at="EKS clusters",
        actions=("eks:DescribeCluster", "eks:ListClusters", "eks:ListNodegroups"),
        find=_clusters,
    ),
    OrphanSearch(at="KMS keys", actions=_KEY_ACTIONS, find=_keys),
)
