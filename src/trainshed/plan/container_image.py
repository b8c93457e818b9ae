"""Which image the cluster's jobs run, and what its nodes need to pull it."""

import re
from dataclasses import dataclass

from trainshed.plan.notes import Notes
from trainshed.spec import ImageSpec

_DEFAULT_TAG = "v1"
# Amazon ECR user guide, "Private registry": the names of a registry, dual-stack and FIPS ones too.
_ECR = re.compile(
    r"(?P<account>[0-9]{12})\.dkr[.-]ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\."
    r"(?P<domain>amazonaws\.com(?:\.cn)?|on\.(?:aws|amazonwebservices\.com\.cn))"
    r"/(?P<name>[^:@]+)[:@].*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EcrRepository:
    """A private ECR repository, of any account and region.

    Attributes:
        account: AWS account, 12 digits.
        region: AWS region.
        name: repository name.
    """

    account: str
    region: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    """The image of the job definition: of the cluster's own repository, or any.

    Attributes:
        tag: tag in the cluster's own repository, or None.
        digest: digest there, `sha256:` and 64 hexadecimal digits, or None.
        uri: an image of another repository, or None.
        ecr: the private ECR repository that `uri` names, which nodes need rights to pull from;
            None when it names none.
    """

    tag: str | None = None
    digest: str | None = None
    uri: str | None = None
    ecr: EcrRepository | None = None

    @property
    def tag_or_digest(self) -> str:
        """The one that is there, in the cluster's own repository."""
        return self.digest or self.tag or ""


def plan_image(notes: Notes) -> ImagePlan:
    """Take the image that was asked for, by default the tag v1 of the cluster's repository."""
    asked = notes.spec.image
    assert isinstance(asked, ImageSpec)
    if asked.uri:
        return _elsewhere(notes, asked.uri)
    image = ImagePlan(tag=None if asked.digest else asked.tag or _DEFAULT_TAG, digest=asked.digest)
    reason = "as asked" if asked.digest or asked.tag else "the default tag"
    notes.decide("container image", image.tag_or_digest, reason)
    return image


def _elsewhere(notes: Notes, uri: str) -> ImagePlan:
    found = _ECR.fullmatch(uri)
    if not found:
        notes.decide(
            "container image", uri, "as asked; nodes pull it without credentials, as it is public"
        )
        return ImagePlan(uri=uri)
    if found["domain"].endswith(".cn"):
        notes.problem(
            "image.uri",
            f"{uri} is in AWS's China partition, and roles of other partitions cannot log in to "
            "its registries; copy the image to an ECR repository of this partition",
        )
    ecr = EcrRepository(account=found["account"], region=found["region"], name=found["name"])
    notes.decide(
        "container image",
        uri,
        f"as asked; nodes may pull from {ecr.name} of account {ecr.account} in {ecr.region}, "
        "whose own policy must allow it too if that is another account",
    )
    return ImagePlan(uri=uri, ecr=ecr)
