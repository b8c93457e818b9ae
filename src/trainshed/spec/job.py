"""The field `job`, as far as every orchestrator has it."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from trainshed.documents.model import Model, Whole
from trainshed.spec import forms


class BucketAccess(StrEnum):
    """What a job may do in a bucket."""

    READ = "read"
    READ_WRITE = "read-write"
    READ_WRITE_DELETE = "read-write-delete"


class BucketGrant(Model):
    """An S3 bucket that jobs may use."""

    bucket: Annotated[str, Field(pattern=forms.BUCKET.pattern)]
    """Name of an existing bucket. One of another account must allow the job's role in its own
    policy too. For a bucket that is encrypted with your own KMS key, give jobs kms:Decrypt, and
    to write kms:GenerateDataKey, on that key by job.policies or the key's policy."""
    prefix: Annotated[str, Field(pattern=forms.PREFIX.pattern, max_length=512)] = ""
    """Only objects under this prefix, for instance runs/; default: the whole bucket."""
    access: BucketAccess = BucketAccess.READ
    """read, read-write, or read-write-delete. A job that removes its old checkpoints needs the
    last; versions of objects are never deleted. Writing may replace an object: turn on the bucket's
    versioning where that matters."""


# API reference of AWS Batch, RetryStrategy, attempts.
ATTEMPTS_MAX = 10


class JobSpec(Model):
    """Defaults of the jobs."""

    environment: dict[Annotated[str, Field(pattern=forms.VARIABLE.pattern)], str] = Field(
        default_factory=dict, json_schema_extra={"additionalProperties": False}
    )
    """Variables of the jobs; they win over the accelerator's defaults."""
    buckets: tuple[BucketGrant, ...] = Field(default=(), max_length=20)
    """S3 buckets that jobs may read or write, for instance [{bucket: my-runs, access: read-write}];
    default: none."""
    policies: tuple[Annotated[str, Field(pattern=forms.POLICY.pattern)], ...] = Field(
        default=(), max_length=10
    )
    """ARNs of managed policies for what else jobs may do; default: none."""
    timeout_hours: Whole = Field(default=72, ge=1, le=8760)
    """A job that runs longer is stopped."""


class ContainerJobSpec(JobSpec):
    """Defaults of jobs in containers."""

    shared_memory_gib: Whole | None = Field(default=None, ge=1)
    """Size of /dev/shm in GiB; default: an eighth of the node's memory."""
    attempts: Whole = Field(default=3, ge=1, le=ATTEMPTS_MAX)
    """Tries of a job that lost a node: its main node failed or could not start, or the main node's
    container ended with exit code 197, which says that a node was lost or lacks a device. AWS Batch
    notices only the main node by itself. A job that ends with any other code is not tried again."""
