"""A stand-in for a cluster's container image in the ECR of an embedded AWS: nothing is in it.

Jobs there do not run without an image. Without an engine that builds and pushes the real one, an
entry in ECR will do, and they run on this machine's own files.
"""

import json
import re

from trainshed.aws import AwsRefusal, Region
from trainshed.errors import Failure, TrainshedError
from trainshed.plan import ClusterPlan

_IN_ECR = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com/"
    r"(?P<name>[^:@]+)(:(?P<tag>[^@]+))?(?P<digest>@.+)?"
)
_CREATE = "aws ecr create-repository --repository-name {}"
# An index of no images: unlike an image, it has no configuration that somebody could ask for.
_MANIFEST = {
    "schemaVersion": 2,
    "mediaType": "application/vnd.oci.image.index.v1+json",
    "manifests": [],
}


def add_image_of(region: Region, plan: ClusterPlan) -> str:
    """Put a stand-in in the place of the image of a cluster's jobs; return the image's URI.

    The cluster may be deployed before or after that.

    Args:
        region: of an embedded AWS.
        plan: the cluster's.

    Raises:
        Failure: the image's repository is not there.
        TrainshedError: the cluster needs no image in this ECR, or one that nothing can stand for.
    """
    name, asked = plan.name, plan.jobs.image
    if asked is None:
        raise TrainshedError(
            f"{name} needs no container image: its jobs run on the nodes themselves, as "
            f"orchestrator is {plan.orchestrator}"
        )
    account = region.call("sts", "get_caller_identity")["Account"]
    image, stack = asked.uri or "", None
    if repository := plan.repository:
        mark = "@" if asked.digest else ":"
        registry = f"{account}.dkr.ecr.{region.name}.amazonaws.com"
        image = f"{registry}/{repository.name}{mark}{asked.tag_or_digest}"
        stack = None if repository.existing else repository.stack_name
    if not add_image(region, account, image, stack):
        raise TrainshedError(
            f"{name} needs no stand-in: its image {image} is not of this account's ECR, and the "
            "embedded AWS assumes that it exists"
        )
    return image


def is_in_ecr(account: str, image: str) -> bool:
    """Return whether an image is of an account's ECR; of others, all are taken to be there."""
    return _in_ecr(account, image) is not None


def add_image(region: Region, account: str, image: str, stack: str | None = None) -> bool:
    """Put a stand-in in the place of an image; return whether it is of this account's ECR.

    Jobs start without others.

    Args:
        region: of an embedded AWS.
        account: its account.
        image: URI.
        stack: makes the image's repository; None when no stack does.

    Raises:
        Failure: the image's repository is not there.
        TrainshedError: nothing can stand for the image.
    """
    found = _in_ecr(account, image)
    if not found:
        return False
    if found["digest"]:
        raise TrainshedError(
            f"no stand-in for {image} is possible: only one image has this digest; name an "
            "image.tag for use on the embedded AWS, or build and push the image there"
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
            f"there is no repository {found['name']} in {region.name}; create it: "
            + (f"npx cdk deploy {stack}" if stack else _CREATE.format(found["name"]))
        ) from error
    if not answer["images"]:
        manifest = json.dumps(_MANIFEST)
        region.call("ecr", "put_image", **there, imageTag=tag, imageManifest=manifest)
    return True


def _in_ecr(account: str, image: str) -> re.Match[str] | None:
    found = _IN_ECR.fullmatch(image)
    return found if found and found["account"] == account else None
