"""A stand-in for a cluster's container image in the ECR of an embedded AWS: nothing is in it.

Jobs there do not run without an image. Without an engine that builds and pushes the real one, an
entry in ECR will do, and they run on this machine's own files.
"""

import json
import re

from trainshed.aws import AwsRefusal, Region
from trainshed.errors import Failure, TrainshedError
from trainshed.jobs.batch import BatchDestination, node_properties
from trainshed.jobs.destination import find_destination

_IN_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com/"
    r"(?P<name>[^:@]+)(:(?P<tag>[^@]+))?(?P<digest>@.+)?"
)
# An index of no images: unlike an image, it has no configuration that somebody could ask for.
_MANIFEST = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.index.v1+json",
    "manifests": [],
}


def add_image_of(region: Region, cluster: str) -> str:
    """Put a stand-in in the place of a deployed cluster's image; return the image's URI.

    Args:
        region: of an embedded AWS.
        cluster: its name.

    Raises:
        Failure: the cluster is not deployed, or the image's repository is not there.
        TrainshedError: the cluster needs no image in this ECR, or one that nothing can stand for.
    """
    destination = find_destination(region, cluster)
    if not isinstance(destination, BatchDestination):
        raise TrainshedError(
            f"{cluster} needs no container image: its jobs run on the nodes themselves, as "
            "orchestrator is ec2"
        )
    image = _image(region, destination.definition)
    if not add_image(region, destination.definition):
        raise TrainshedError(
            f"{cluster} needs no stand-in: its image {image} is not of this account's ECR, and the "
            "embedded AWS takes it as present"
        )
    return image


def add_image(region: Region, definition: str) -> bool:
    """Put a stand-in in the place of a job definition's image, unless an image is there.

    Args:
        region: of an embedded AWS.
        definition: ARN of the job definition.

    Returns:
        Whether the image is of this account's ECR; jobs of an embedded AWS start without others.

    Raises:
        Failure: the image's repository is not there.
        TrainshedError: nothing can stand for the image.
    """
    image = _image(region, definition)
    found = _IN_ECR.fullmatch(image)
    if not found or found["account"] != definition.split(":")[4]:
        return False
    if found["digest"]:
        raise TrainshedError(
            f"nothing can stand for {image}: only one image has this digest; name an image.tag "
            "for use on the embedded AWS, or build and push the image there"
        )
    if found["region"] != region.name:
        raise TrainshedError(
            f"{image} is of the region {found['region']}, and its cluster is in {region.name}; "
            "name an image of the cluster's region for use on the embedded AWS"
        )
    there, tag = {"repositoryName": found["name"]}, found["tag"] or "latest"
    try:
        answer = region.call("ecr", "batch_get_image", **there, imageIds=[{"imageTag": tag}])
    except AwsRefusal as error:
        if error.code != "RepositoryNotFoundException":
            raise
        raise Failure(
            f"there is no repository {found['name']} in {region.name}; create it: aws ecr "
            f"create-repository --repository-name {found['name']}"
        ) from error
    if not answer["images"]:
        manifest = json.dumps(_MANIFEST)
        region.call("ecr", "put_image", **there, imageTag=tag, imageManifest=manifest)
    return True


def _image(region: Region, definition: str) -> str:
    [group] = node_properties(region, definition)["nodeRangeProperties"]
    image: str = group["container"]["image"]
    return image
