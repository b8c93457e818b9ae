"""An ECR repository: what is in it, what may be written, who may push."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from trainshed.aws import AwsRefusal, Region, accepting
from trainshed.errors import Failure, one_line

_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_PATIENCE_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedImage:
    """One image of a repository.

    Attributes:
        digest: `sha256:` and 64 hexadecimal digits.
        tags: none when it is left over from an interrupted push.
        size_bytes: of its layers, compressed; None for an index of images.
        pushed: when.
    """

    digest: str
    tags: tuple[str, ...]
    size_bytes: int | None
    pushed: datetime


class ContainerRepository:
    """A repository of ECR.

    Args:
        region: where it is.
        name: its name.
        account: of another account than the caller's own; by default the caller's.

    Raises:
        Failure: there is no such repository.
    """

    def __init__(self, region: Region, name: str, *, account: str | None = None) -> None:
        self.name, self._region = name, region
        self._registry = {"registryId": account} if account else {}
        described = self._found(name)
        self.uri: str = described["repositoryUri"]
        self._mutability: str = described.get("imageTagMutability", "MUTABLE")
        self._excluded = tuple(
            entry["filter"] for entry in described.get("imageTagMutabilityExclusionFilters", ())
        )

    def _found(self, name: str) -> dict[str, Any]:
        with accepting("RepositoryNotFoundException"):
            answer = self._region.call(
                "ecr", "describe_repositories", repositoryNames=[name], **self._registry
            )
            described: dict[str, Any] = answer["repositories"][0]
            return described
        raise Failure(
            f"{self._region.name} has no repository {name!r}; deploy the cluster's containers "
            "stack first"
        )

    def keeps(self, tag: str) -> bool:
        """Whether a tag that exists can never mean another image."""
        excluded = any(fnmatchcase(tag, pattern) for pattern in self._excluded)
        return self._mutability.startswith("IMMUTABLE") != excluded

    def tagged(self, tag: str) -> PushedImage | None:
        """Return the image of a tag, or None."""
        with accepting("ImageNotFoundException"):
            answer = self._region.call(
                "ecr",
                "describe_images",
                repositoryName=self.name,
                imageIds=[{"imageTag": tag}],
                **self._registry,
            )
            return _image(answer["imageDetails"][0])
        return None

    def images(self) -> list[PushedImage]:
        """Return every image, the newest first."""
        found = self._region.pages(
            "ecr", "describe_images", "imageDetails", repositoryName=self.name, **self._registry
        )
        images = [_image(entry) for entry in found]
        return sorted(images, key=lambda image: (image.pushed, image.digest), reverse=True)

    def labels(self, image: PushedImage) -> Mapping[str, str] | None:
        """Return the labels of an image, or None when it is an index, which has none."""
        manifest = find_manifest(
            self._region, self.name, {"imageDigest": image.digest}, **self._registry
        )
        return labels_of(self._region, self.name, manifest or {}, **self._registry)

    def password(self) -> str:
        """Return a password for ECR's user `AWS`; it lasts twelve hours."""
        answer = self._region.call("ecr", "get_authorization_token")
        token = answer["authorizationData"][0]["authorizationToken"]
        return base64.b64decode(token).decode().partition(":")[2]


def find_manifest(
    region: Region, repository: str, image: Mapping[str, str], **registry: str
) -> dict[str, Any] | None:
    """Return the manifest of an image, or None when the repository has no such image.

    Args:
        region: where the repository is.
        repository: its name.
        image: its `imageTag` or `imageDigest`.
        registry: `registryId` of another account.

    Raises:
        AwsRefusal: there is no such repository, or the image cannot be read now.
    """
    answer = region.call(
        "ecr",
        "batch_get_image",
        repositoryName=repository,
        imageIds=[dict(image)],
        acceptedMediaTypes=list(_MANIFESTS),
        **registry,
    )
    for failed in answer.get("failures", ()):
        if failed["failureCode"] != "ImageNotFound":
            code, reason = failed["failureCode"], one_line(failed.get("failureReason", ""))
            raise AwsRefusal(code, f"ECR does not give {repository}: {code}, {reason}")
    manifests = [json.loads(each["imageManifest"]) for each in answer.get("images", ())]
    return next(iter(manifests), None)


def labels_of(
    region: Region, repository: str, manifest: Mapping[str, Any], **registry: str
) -> Mapping[str, str] | None:
    """Return the labels of an image of this manifest, or None for an index, which has none."""
    config = manifest.get("config")
    if not config:
        return None
    url = region.call(
        "ecr",
        "get_download_url_for_layer",
        repositoryName=repository,
        layerDigest=config["digest"],
        **registry,
    )["downloadUrl"]
    labels: dict[str, str] | None = json.loads(_read(url)).get("config", {}).get("Labels")
    return labels or {}


def _image(entry: Mapping[str, Any]) -> PushedImage:
    return PushedImage(
        digest=entry["imageDigest"],
        tags=tuple(sorted(entry.get("imageTags", ()))),
        size_bytes=entry.get("imageSizeInBytes"),
        pushed=entry["imagePushedAt"],
    )


def _read(url: str) -> bytes:
    try:
        with urlopen(url, timeout=_PATIENCE_SECONDS) as answer:
            content: bytes = answer.read()
    # URLError is one, and so is a connection that breaks.
    except OSError as error:
        # Not the URL itself: it carries a signature.
        reason = getattr(error, "reason", None) or error
        raise Failure(
            f"the image's configuration cannot be read from {urlsplit(url).netloc}: {reason}"
        ) from error
    return content
