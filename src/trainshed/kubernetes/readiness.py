"""Whether an object of Kubernetes does what it is there for."""

from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import PersistentVolumeClaim

from trainshed.kubernetes.objects import KubernetesObject
from trainshed.kubernetes.queue import ClusterQueue, why_not_active


def why_not_ready(found: KubernetesObject | None) -> str:
    """Return why an object is not ready; empty when it is, and for kinds that always are.

    Args:
        found: as the server has it, or None.
    """
    match found:
        case None:
            return "it is gone"
        case PersistentVolumeClaim():
            phase = found.status and found.status.phase
            return "" if phase == "Bound" else f"it is {phase or 'new'}"
        case DaemonSet() if found.status and found.metadata:
            status, metadata = found.status, found.metadata
            desired, available = status.desiredNumberScheduled, status.numberAvailable or 0
            current = (status.observedGeneration or 0) >= (metadata.generation or 0)
            updated = (status.updatedNumberScheduled or 0) >= desired
            if current and updated and available >= desired:
                return ""
            return f"{available} of {desired} nodes have it" if current else "it is new"
        case ClusterQueue():
            return why_not_active(found)
        case _:
            return ""
