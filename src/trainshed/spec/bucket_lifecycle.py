"""The field `storage.bucket.lifecycle`: what becomes of objects as they grow old."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from trainshed.documents.model import Model, Whole
from trainshed.spec import forms

# S3 API reference, "Transition": Days is an integer. From memory: of 32 bits.
_MOST_DAYS = 2**31 - 1


class BucketLifecycle(Model):
    """What becomes of the objects under a prefix, by the days since they were written."""

    prefix: Annotated[str, Field(pattern=forms.PREFIX.pattern, max_length=512)] = ""
    """Only objects under this prefix, for instance runs/; default: the whole bucket."""
    infrequent_access_days: Whole | None = Field(default=None, ge=30, le=_MOST_DAYS)
    """Days until they move to Standard-IA: cheaper to keep, each read is paid; default: never."""
    glacier_instant_retrieval_days: Whole | None = Field(default=None, ge=1, le=_MOST_DAYS)
    """Days until they move to Glacier Instant Retrieval: cheaper still, reads cost more; default:
    never."""
    glacier_days: Whole | None = Field(default=None, ge=1, le=_MOST_DAYS)
    """Days until they move to Glacier, where they cannot be read until they are restored, which
    takes hours; default: never."""
    deep_archive_days: Whole | None = Field(default=None, ge=1, le=_MOST_DAYS)
    """Days until they move to Glacier Deep Archive, where a restore takes up to two days; default:
    never."""
    expire_days: Whole | None = Field(default=None, ge=1, le=_MOST_DAYS)
    """Days until they are deleted; their versions are kept for 90 days more. Default: never."""

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not self.model_fields_set - {"prefix"}:
            raise ValueError(
                "does nothing; give the days until objects move, for instance glacier_days: 90, or "
                "leave the rule out"
            )
        return self
