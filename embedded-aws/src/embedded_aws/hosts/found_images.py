"""The image of a container, if it is there to be pulled.

Of other registries than ECR only those are known that a service registers here; what the rest hold
is taken as present. From memory: the words of Docker and of ECR.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from moto.backends import get_backend

from embedded_aws.actions import Call
from embedded_aws.ecr.layer_store import layer_store
from embedded_aws.ecr.stored_images import NotReadable, StoredImage, stored_image

_IMAGE = re.compile(
    r"(?P<registry>[^/]+)/(?P<name>[^:@]+)(:(?P<tag>[^@]+))?(@(?P<digest>sha256:[0-9a-f]+))?"
)
_OF_ECR = re.compile(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com")


_OTHER = "the embedded AWS knows images of this account's ECR only"
_ONLY_MANIFEST = "ECR has no layers of it"
_NO_LAYERS = "the embedded AWS has no --registry with its layers"
_Finder = Callable[[str], StoredImage | None]
_finders: list[_Finder] = []


def finds_images(function: _Finder) -> _Finder:
    """Register the decorated function, which finds images of other registries.

    It gets an image as containers name it, returns None for one of a repository that it does not
    know, and raises NotPulled for one that the repository lacks.
    """
    _finders.append(function)
    return function


class NotPulled(Exception):
    """An image cannot be pulled; the message says why, in the words of a registry.

    Args:
        why: the message.
        found: the registry has it.
    """

    def __init__(self, why: str, *, found: bool = False) -> None:
        super().__init__(why)
        self.found = found


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
        call: of the account and region where the container runs.
        image: of the container.

    Raises:
        NotPulled: it cannot be.
    """
    for finder in _finders:
        if stored := finder(image):
            return FoundImage(stored=stored)
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
    if repository is None:
        raise NotPulled(
            f"repository {found['registry']}/{found['name']} not found: name unknown: The "
            f"repository with name '{found['name']}' does not exist in the registry with id "
            f"'{call.account}'"
        )
    tag = found["tag"] or (None if found["digest"] else "latest")
    for kept in repository.images:
        if tag in (None, *kept.image_tags) and found["digest"] in (None, kept.get_image_digest()):
            try:
                stored = stored_image(repository, kept)
                if stored and not layer_store():
                    return FoundImage(stored=None, absence=_NO_LAYERS)
                return FoundImage(stored=stored, absence=_ONLY_MANIFEST)
            except NotReadable as problem:
                raise NotPulled(str(problem), found=True) from problem
    raise NotPulled(f"manifest for {image} not found: manifest unknown: Requested image not found")
