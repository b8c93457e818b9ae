"""Whether objects of Kubernetes do what they are there for."""

from collections.abc import Iterable, Iterator

from lightkube import Client
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import DaemonSet, Deployment
from lightkube.resources.core_v1 import PersistentVolume, PersistentVolumeClaim

from trainshed.kubernetes.object_names import named
from trainshed.kubernetes.object_step import find_object
from trainshed.kubernetes.objects import KubernetesObject
from trainshed.kubernetes.queue import ClusterQueue, why_not_active


def not_ready(client: Client, objects: Iterable[KubernetesObject]) -> Iterator[str]:
    """Yield the name of each object that is not ready, and why.

    Args:
        client: of the API server.
        objects: as they were applied.
    """
    for each in objects:
        found = find_object(client, each)
        if why := _why_not_ready(found):
            yield f"{named(each)}: {why}{_remedy(client, found)}"


def _remedy(client: Client, found: KubernetesObject | None) -> str:
    """Return what to do about a claim that waits for a volume that will never be its own.

    Kubernetes documentation, "Persistent Volumes", Reclaiming: a retained volume stays that of the
    claim that was deleted.
    """
    if not isinstance(found, PersistentVolumeClaim) or not (found.spec and found.spec.volumeName):
        return ""
    name = found.spec.volumeName
    for volume in client.list(PersistentVolume, fields={"metadata.name": name}):
        if volume.status and volume.status.phase == "Released":
            return (
                ", for its volume is still that of a claim that was deleted; delete the volume, "
                "whose files stay, and run the command again: kubectl delete persistentvolume "
                f"{name}"
            )
    return ""


def _why_not_ready(found: KubernetesObject | None) -> str:
    """Return why an object is not ready; empty when it is, and for kinds that always are."""
    match found:
        case None:
            return "it is gone"
        case PersistentVolumeClaim():
            phase = found.status and found.status.phase
            return "" if phase == "Bound" else f"it is {phase or 'new'}"
        case DaemonSet() | Deployment() if not _is_current(found):
            return "it is new"
        case DaemonSet() if found.status:
            wanted = found.status.desiredNumberScheduled
            updated, available = found.status.updatedNumberScheduled, found.status.numberAvailable
            return _missing(wanted, updated, available, "nodes have it")
        case Deployment() if found.status:
            wanted = (found.spec and found.spec.replicas) or 0
            updated, available = found.status.updatedReplicas, found.status.availableReplicas
            return _missing(wanted, updated, available, "pods are ready")
        case CustomResourceDefinition():
            conditions = (found.status and found.status.conditions) or []
            served = any((each.type, each.status) == ("Established", "True") for each in conditions)
            return "" if served else "the API server does not serve it yet"
        case ClusterQueue():
            return why_not_active(found)
        case _:
            return ""


def _is_current(found: DaemonSet | Deployment) -> bool:
    """Return whether the status is of the object as it is now."""
    seen = (found.status and found.status.observedGeneration) or 0
    return seen >= ((found.metadata and found.metadata.generation) or 0)


def _missing(wanted: int, updated: int | None, available: int | None, what: str) -> str:
    if (updated or 0) >= wanted and (available or 0) >= wanted:
        return ""
    return f"{available or 0} of {wanted} {what}"
