"""The image of a job's container, if it is there to be pulled.

Only the repositories of the job's own account are looked at: what other registries hold is not
known here, and taken as present. From memory: the words of Docker and of ECR.
"""

import re
from dataclasses import dataclass

from moto.backends import get_backend

from embedded_aws.actions import Call
from embedded_aws.batch.task_refused import TaskRefused
from embedded_aws.ecr.layer_store import layer_store
from embedded_aws.ecr.stored_images import NotReadable, StoredImage, stored_image

_IMAGE = re.compile(
    r"(?P<registry>[^/]+)/(?P<name>[^:@]+)(:(?P<tag>[^@]+))?(@(?P<digest>sha256:[0-9a-f]+))?"
)
_OF_ECR = re.compile(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com")


_OTHER = "the embedded AWS knows images of this account's ECR only"
_ONLY_MANIFEST = "ECR has no layers of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundImage:
    """An image that can be pulled.

    Attributes:
        stored: its parts; None when they are not here.
        absence: why they are not.
    """

    stored: StoredImage | None
    absence: str = ""


def find_image(call: Call, image: str) -> FoundImage:
    """Return the image of a container.

    Args:
        call: of the job's account and region.
        image: of the container.

    Raises:
        TaskRefused: it cannot be pulled, in the words of ECS.
    """
    found = _IMAGE.fullmatch(image)
    elsewhere = FoundImage(stored=None, absence=_OTHER)
    if not found:
        return elsewhere
    region = call.region
    if of_ecr := _OF_ECR.fullmatch(found["registry"]):
        account, region = of_ecr.groups()
        if account != call.account:
            return elsewhere
    elif not ((store := layer_store()) and store.host == found["registry"]):
        return elsewhere
    repository = get_backend("ecr")[call.account][region].repositories.get(found["name"])
    said = "CannotPullContainerError: Error response from daemon"
    if repository is None:
        raise TaskRefused(
            f"{said}: repository {found['registry']}/{found['name']} not found: name unknown: The "
            f"repository with name '{found['name']}' does not exist in the registry with id "
            f"'{call.account}'"
        )
    tag = found["tag"] or (None if found["digest"] else "latest")
    for kept in repository.images:
        if tag in (None, *kept.image_tags) and found["digest"] in (None, kept.get_image_digest()):
            try:
                return FoundImage(stored=stored_image(repository, kept), absence=_ONLY_MANIFEST)
            except NotReadable as problem:
                raise TaskRefused(f"{said}: {problem}") from problem
    raise TaskRefused(
        f"{said}: manifest for {image} not found: manifest unknown: Requested image not found"
    )
