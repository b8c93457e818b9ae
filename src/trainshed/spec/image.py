"""The field `image` of a cluster whose jobs run in containers."""

from typing import Annotated

from pydantic import ConfigDict, Field, ValidationInfo, field_validator
from pydantic.config import JsonDict

from trainshed.documents.forms import IMAGE_DIGEST
from trainshed.documents.model import Flag, Model
from trainshed.spec import forms


def _both(first: str, second: str) -> JsonDict:
    """Return the JSON Schema of a mapping that has both fields."""
    return {"required": [first, second]}


# Fields of `image` that say a part of what `uri` says.
_PARTS_OF_URI = ("repository", "existing", "tag", "digest")


class ImageSpec(Model):
    """The container image of the job definition: of the cluster's own ECR repository, or any."""

    model_config = ConfigDict(
        json_schema_extra={
            "not": {
                "anyOf": [
                    _both("tag", "digest"),
                    *(_both("uri", field) for field in _PARTS_OF_URI),
                ]
            }
        }
    )

    repository: Annotated[str, Field(pattern=forms.REPOSITORY.pattern)] | None = None
    """Clusters that name the same repository share it; default: from the cluster's name."""
    existing: Flag = False
    """Use a repository of that name that is there already, for instance one that was kept."""
    tag: Annotated[str, Field(pattern=forms.IMAGE_TAG.pattern)] | None = None
    """Tag of the image; tags are immutable; default: v1, unless there is a digest."""
    digest: Annotated[str, Field(pattern=IMAGE_DIGEST.pattern)] | None = None
    """Digest of the image, instead of a tag."""
    uri: Annotated[str, Field(pattern=forms.IMAGE_URI.pattern, max_length=255)] | None = None
    """An image of another repository, account or registry, instead of the fields above. The
    cluster then gets no repository of its own. Nodes log in to ECR only; the owner of a repository
    in another account must let this one pull. From any other registry the image is pulled without
    credentials, so it must be public: copy a private one to ECR."""

    @field_validator("digest")
    @classmethod
    def _tag_or_digest(cls, digest: str | None, read: ValidationInfo) -> str | None:
        if digest and read.data.get("tag"):
            raise ValueError(
                f"names an image, and so does tag, {read.data['tag']!r}; leave one out"
            )
        return digest

    @field_validator("uri")
    @classmethod
    def _uri_or_own_repository(cls, uri: str | None, read: ValidationInfo) -> str | None:
        others = [field for field in _PARTS_OF_URI if read.data.get(field)]
        if uri and others:
            raise ValueError(
                "names the whole image, registry and tag or digest with it; leave out "
                f"{' and '.join(others)}, or uri"
            )
        return uri


class NoImage(Model):
    """Of a cluster whose jobs run on the nodes themselves."""
