"""Which image of the cluster's repository its jobs run."""

from dataclasses import dataclass

from trainshed.plan.notes import Notes

_DEFAULT_TAG = "v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    """The image of the job definition: a tag or a digest.

    Attributes:
        tag: tag in the cluster's repository, or None.
        digest: digest, `sha256:` and 64 hexadecimal digits, or None.
    """

    tag: str | None
    digest: str | None

    @property
    def tag_or_digest(self) -> str:
        """The one that is there."""
        return self.digest or self.tag or ""


def plan_image(notes: Notes) -> ImagePlan:
    """Take the digest or the tag that was asked for, by default the tag v1."""
    asked = notes.spec.image
    image = ImagePlan(tag=None if asked.digest else asked.tag or _DEFAULT_TAG, digest=asked.digest)
    reason = "as asked" if asked.digest or asked.tag else "the default tag"
    notes.decide("container image", image.tag_or_digest, reason)
    return image
