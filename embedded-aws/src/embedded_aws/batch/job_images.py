"""Whether the image of a job's container is there to be pulled.

Only the repositories of the job's own account are looked at: what other registries hold is not
known here, and taken as present. [M] The words of Docker and of ECR.
"""

import re

from moto.backends import get_backend

from embedded_aws.actions import Call
from embedded_aws.service_settings import current

_IMAGE = re.compile(
    r"(?P<registry>[^/]+)/(?P<name>[^:@]+)(:(?P<tag>[^@]+))?(@(?P<digest>sha256:[0-9a-f]+))?"
)
_OF_ECR = re.compile(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com")


def pull_problem(call: Call, image: str) -> str | None:
    """Return why an image cannot be pulled, in the words of ECS, or None.

    Args:
        call: of the job's account and region.
        image: of the container.
    """
    found = _IMAGE.fullmatch(image)
    if not found:
        return None
    region = call.region
    if of_ecr := _OF_ECR.fullmatch(found["registry"]):
        account, region = of_ecr.groups()
        if account != call.account:
            return None
    elif not (current().registry and current().endpoint.endswith(found["registry"])):
        return None
    repository = get_backend("ecr")[call.account][region].repositories.get(found["name"])
    said = "CannotPullContainerError: Error response from daemon"
    if repository is None:
        return (
            f"{said}: repository {found['registry']}/{found['name']} not found: name unknown: The "
            f"repository with name '{found['name']}' does not exist in the registry with id "
            f"'{call.account}'"
        )
    tag = found["tag"] or (None if found["digest"] else "latest")
    for kept in repository.images:
        if tag in (None, *kept.image_tags) and found["digest"] in (None, kept.get_image_digest()):
            return None
    return f"{said}: manifest for {image} not found: manifest unknown: Requested image not found"
