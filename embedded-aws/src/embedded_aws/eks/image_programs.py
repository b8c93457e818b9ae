"""What a container of a pod runs on this machine.

Inferred, as for AWS Batch: an image that is not here stands for the machine's own files, where its
command and arguments are looked for. That is so for jobs and for pods by themselves. What a
Deployment, a StatefulSet or a DaemonSet keeps running is a vendor's program, which this machine
does not have, but for the managers that are built here.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Call
from embedded_aws.hosts.found_images import NotPulled, find_image
from embedded_aws.hosts.image_files import ImageFiles

_SERVICES = ("DaemonSet", "ReplicaSet", "StatefulSet")


def why_not_run(call: Call, pod: Mapping[str, Any], images: ImageFiles) -> str | None:
    """Return why nothing of a pod runs, or None; its images may still be refused.

    Args:
        call: in whose account and region.
        pod: it.
        images: in whose files its programs would run.
    """
    if not any(each["kind"] in _SERVICES for each in pod["metadata"].get("ownerReferences", [])):
        return None
    spec = pod["spec"]
    containers = (*spec.get("initContainers", []), *spec["containers"])
    if not all(_is_here(call, each["image"]) for each in containers):
        return "the embedded AWS does not run this image"
    return images.unavailable


def _is_here(call: Call, image: str) -> bool:
    try:
        return find_image(call, image).stored is not None
    except NotPulled:
        # As its kubelet will say.
        return True
