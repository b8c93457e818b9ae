"""What Kubernetes has of a cluster whose control plane stays: what goes of it, and what cannot."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from trainshed.account.tags import CLUSTER_LABEL
from trainshed.aws import AwsRefusal, Region
from trainshed.errors import Failure
from trainshed.kubernetes.client import connect
from trainshed.kubernetes.cluster import find_cluster
from trainshed.kubernetes.cluster_content import ClusterContent, delete_content, find_content
from trainshed.kubernetes.labels import OwnedObjects
from trainshed.orchestrators import part
from trainshed.plan import ClusterPlan
from trainshed.teardown.kept import Kept

# So many of what others have in a namespace are named.
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class InKubernetes:
    """What goes of a cluster in Kubernetes, and what stays.

    Attributes:
        owned: what its objects have in common.
        content: what goes.
        kept: what stays, and why.
    """

    owned: OwnedObjects
    content: ClusterContent
    kept: tuple[Kept, ...] = ()


def look_at_everything(region: Region, cluster: ClusterPlan, eks_cluster: str) -> InKubernetes:
    """Return all that goes with a cluster; none where the API server cannot be asked.

    Args:
        region: the cluster's.
        cluster: the cluster.
        eks_cluster: name of its EKS cluster.
    """
    owned = _owned(cluster)
    try:
        eks = find_cluster(region, eks_cluster)
        with connect(eks) as client:
            content = find_content(client, eks, owned)
    except AwsRefusal:
        raise
    except Failure as error:
        return InKubernetes(owned=owned, content=_only_jobs(owned), kept=(_unseen(owned, error),))
    kept = (_occupied(content),) if content.others else ()
    return InKubernetes(owned=owned, content=content, kept=kept)


def look_at_jobs(
    cluster: ClusterPlan, unfinished: Collection[str], unseen: str | None
) -> InKubernetes:
    """Return what goes when the nodes of a cluster go, and may come again.

    Args:
        cluster: the cluster.
        unfinished: names of its jobs that are not over, and that would begin again.
        unseen: why they are not known; None when they are.
    """
    owned = _owned(cluster)
    kept = Kept(
        what="jobs",
        name=owned.namespace,
        size="",
        cost="nothing",
        why=f"{unseen}; those that are there begin again when nodes come again. Where the API "
        f"server is reached: trainshed job list {owned.cluster}",
    )
    return InKubernetes(
        owned=owned, content=_only_jobs(owned, *unfinished), kept=(kept,) if unseen else ()
    )


def remove_content(
    region: Region, eks_cluster: str, found: InKubernetes, *, show: Callable[[str], None]
) -> None:
    """Delete what goes; no data is deleted.

    Args:
        region: the cluster's.
        eks_cluster: name of the EKS cluster.
        found: what goes.
        show: gets each step.

    Raises:
        Failure: the API server refuses, or does not answer.
    """
    if not found.content.names:
        return
    eks = find_cluster(region, eks_cluster)
    with connect(eks) as client:
        for name in delete_content(client, eks, found.owned, found.content):
            show(f"{name}: deleted")


def _owned(cluster: ClusterPlan) -> OwnedObjects:
    owned: OwnedObjects = part(cluster.orchestrator, "kubernetes").planned_objects(cluster).owned
    return owned


def _only_jobs(owned: OwnedObjects, *jobsets: str) -> ClusterContent:
    return ClusterContent(namespace=owned.namespace, jobsets=jobsets, objects=(), others=())


def _unseen(owned: OwnedObjects, error: Failure) -> Kept:
    return Kept(
        what="objects of Kubernetes",
        name=owned.namespace,
        size="",
        cost="nothing",
        why=f"what is there cannot be looked at: {error}. Jobs would wait for nodes for ever. Run "
        "the same command where the API server is reached, by a role of policy cluster-admin; or "
        "delete the namespace with all that is in it, and what is in none: "
        "kubectl delete daemonsets,clusterroles,clusterrolebindings,persistentvolumes "
        f"--all-namespaces --selector {CLUSTER_LABEL}={owned.cluster} && "
        f"kubectl delete namespace {owned.namespace}; with Kueue also "
        "kubectl delete clusterqueues,resourceflavors,topologies.kueue.x-k8s.io --selector "
        f"{CLUSTER_LABEL}={owned.cluster}",
    )


def _occupied(content: ClusterContent) -> Kept:
    more = len(content.others) - _NAMED
    names = ", ".join(content.others[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return Kept(
        what="namespace",
        name=content.namespace,
        size=f"{len(content.others)} objects",
        cost="volumes and load balancers, if they have some",
        why=f"others made what is in it: {names}; if nobody needs that, delete it with its data: "
        f"kubectl delete namespace {content.namespace}",
    )
