"""What Kubernetes has of a cluster that goes while its control plane stays."""

from collections.abc import Iterator
from dataclasses import dataclass

from lightkube import Client
from lightkube.resources.core_v1 import Namespace

from trainshed.kubernetes.applied import delete_applied, find_applied
from trainshed.kubernetes.client import asking
from trainshed.kubernetes.cluster import EksCluster
from trainshed.kubernetes.jobsets import JobSets
from trainshed.kubernetes.labels import OwnedObjects
from trainshed.kubernetes.namespace_content import others_in_namespace
from trainshed.kubernetes.object_names import named
from trainshed.kubernetes.objects import KubernetesObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterContent:
    """What goes of a cluster, and what keeps its namespace.

    Attributes:
        namespace: of its jobs.
        jobsets: names of its jobs, also of those that are over.
        objects: what was applied of it, in the order of its deletion; without the namespace where
            others have something in it.
        others: kind and name of what others have in the namespace.
    """

    namespace: str
    jobsets: tuple[str, ...]
    objects: tuple[KubernetesObject, ...]
    others: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Kind and name of what goes."""
        jobs = (f"JobSet {self.namespace}/{each}" for each in self.jobsets)
        return (*jobs, *map(named, self.objects))


def find_content(client: Client, eks: EksCluster, owned: OwnedObjects) -> ClusterContent:
    """Look at what Kubernetes has of a cluster.

    Args:
        client: of the API server.
        eks: the cluster, as EKS has it.
        owned: what the objects of the cluster have in common.

    Raises:
        ApiRefusal: the API server refuses.
        Unreachable: it does not answer.
    """
    jobsets = _jobsets(client, eks, owned).all()
    with asking(eks):
        applied = find_applied(client, owned.labels)
        has_namespace = any(isinstance(each, Namespace) for each in applied)
        others = others_in_namespace(client, owned) if has_namespace else ()
    return ClusterContent(
        namespace=owned.namespace,
        jobsets=tuple(
            each["metadata"]["name"]
            for each in jobsets
            if "deletionTimestamp" not in each["metadata"]
        ),
        objects=tuple(each for each in applied if not (others and isinstance(each, Namespace))),
        others=others,
    )


def delete_content(
    client: Client, eks: EksCluster, owned: OwnedObjects, content: ClusterContent
) -> Iterator[str]:
    """Delete what was found, and yield kind and name of each when it is done.

    Jobs go first: their pods get SIGTERM. What points to a file system goes; no data does.

    Args:
        client: of the API server.
        eks: the cluster, as EKS has it.
        owned: what the objects of the cluster have in common.
        content: what goes.

    Raises:
        ApiRefusal: the API server refuses; what was yielded before is done.
        Unreachable: it does not answer.
    """
    jobsets = _jobsets(client, eks, owned)
    for name in content.jobsets:
        jobsets.delete(name)
        yield f"JobSet {content.namespace}/{name}"
    for each in content.objects:
        with asking(eks):
            delete_applied(client, each)
        yield named(each)


def _jobsets(client: Client, eks: EksCluster, owned: OwnedObjects) -> JobSets:
    return JobSets(client=client, eks=eks, cluster=owned.cluster, namespace=owned.namespace)
