"""The fields of `storage`: what the nodes of clusters share."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from trainshed.catalogue.openzfs import LEAST_GIB, MOST_GIB, THROUGHPUTS
from trainshed.documents.model import Flag, Model, Whole
from trainshed.spec import forms
from trainshed.spec.bucket_lifecycle import BucketLifecycle
from trainshed.spec.job import BucketAccess
from trainshed.spec.mount import REFUSED, REFUSED_BESIDE_HOME, mount_problem

ShareName = Annotated[str, Field(pattern=forms.SHARE_NAME.pattern)]


def _fits(refused: str) -> Callable[[str], str]:
    """Return what checks that nothing which nodes need is at a path."""

    def check(path: str) -> str:
        if problem := mount_problem(path, refused):
            raise ValueError(problem)
        return path

    return check


Mount = Annotated[
    str,
    Field(pattern=forms.MOUNT.pattern, json_schema_extra={"not": {"pattern": REFUSED}}),
    AfterValidator(_fits(REFUSED)),
]
# Of storage that is fit for the folders of users.
HomeMount = Annotated[
    str,
    Field(pattern=forms.MOUNT.pattern, json_schema_extra={"not": {"pattern": REFUSED_BESIDE_HOME}}),
    AfterValidator(_fits(REFUSED_BESIDE_HOME)),
]


class DeploymentType(StrEnum):
    """Life of a Lustre file system: for one campaign, or replicated and self-healing."""

    SCRATCH_2 = "scratch-2"
    PERSISTENT_2 = "persistent-2"


class Compression(StrEnum):
    """Compression of Lustre data."""

    LZ4 = "lz4"
    NONE = "none"


class S3Link(Model):
    """An S3 bucket that the file system shows as a folder and exports to."""

    bucket: Annotated[str, Field(pattern=forms.BUCKET.pattern)]
    """Name of an existing bucket in the same region."""
    prefix: str = ""
    """Only objects under this prefix, for instance datasets/."""


class FileSystemSpec(Model):
    """A file system, a new one or one that exists."""

    name: ShareName | None = None
    """Clusters share it by this name; fixed once deployed; default: from the cluster's name."""
    existing: Annotated[str, Field(pattern=forms.FILE_SYSTEM.pattern)] | None = None
    """Id of a file system to use instead of a new one, for instance one that was kept."""

    @model_validator(mode="after")
    def _new_or_existing(self) -> Self:
        for_new = self.model_fields_set - {"name", "existing", "efa", "mount"}
        if self.existing and for_new:
            raise ValueError(
                f"{', '.join(sorted(for_new))}: for a new file system; leave out with existing"
            )
        return self


class LustreSpec(FileSystemSpec):
    """An FSx for Lustre file system."""

    deployment: DeploymentType = DeploymentType.PERSISTENT_2
    """scratch-2 or persistent-2."""
    capacity_gib: Whole = Field(default=1200, ge=1200, le=2**31 - 1)
    """Storage in GiB: 1200, 2400, then steps of 2400; larger steps with efa."""
    throughput: Whole | None = None
    """MB/s per TiB of a persistent-2 file system: 125, 250, 500 or 1000; default 250."""
    metadata_iops: Whole | None = None
    """Metadata IOPS of persistent-2: 1500, 3000, 6000, 12000, then steps of 12000 to 192000."""
    efa: Flag = False
    """Reach the file system over EFA; needs persistent-2 and a Nitro v4 or later type."""
    compression: Compression = Compression.LZ4
    """lz4 or none."""
    s3: S3Link | None = None
    """S3 bucket linked to the file system's root."""
    mount: Mount = "/fsx"
    """Where nodes and containers see it; not in a folder that they need themselves, like /var."""
    allow_replacement: Flag = False
    """Let a new, empty file system be made beside, or in place of, the one that is there."""


class EfsSpec(FileSystemSpec):
    """An Amazon EFS file system: for home folders, code and small state, on any number of nodes."""

    mount: HomeMount = "/efs"
    """Where nodes and containers see it, for instance /home; not in a folder that they need
    themselves, like /var."""
    infrequent_access_days: Whole = Field(default=30, ge=0)
    """Files that nobody reads for so many days move to Infrequent Access, and back when they are
    read: 1, 7, 14, 30, 60, 90, 180, 270 or 365; 0 for never."""
    archive_days: Whole = Field(default=90, ge=0)
    """Files that nobody reads for so many days move to Archive, and back when they are read: as
    above, and more days than there; 0 for never."""
    backup: Flag = True
    """Let AWS Backup make a backup each day, and keep it for five weeks."""
    allow_replacement: Flag = False
    """Let a new, empty file system be made beside, or in place of, the one that is there."""


class OpenZfsCompression(StrEnum):
    """Compression of OpenZFS data."""

    ZSTD = "zstd"
    LZ4 = "lz4"
    NONE = "none"


class OpenZfsSpec(FileSystemSpec):
    """An FSx for OpenZFS file system: for home folders and code, by NFS, with low latency."""

    mount: HomeMount = "/zfs"
    """Where nodes and containers see it, for instance /home; not in a folder that they need
    themselves, like /var."""
    capacity_gib: Whole = Field(default=LEAST_GIB, ge=LEAST_GIB, le=MOST_GIB)
    """Storage in GiB; grows in place, by 10 percent at least."""
    throughput: Whole = THROUGHPUTS[0]
    """MB/s of the file system, for all nodes together: 160, 320, 640, 1280, 2560, 3840, 5120, 7680
    or 10240; changes in place."""
    compression: OpenZfsCompression = OpenZfsCompression.ZSTD
    """zstd, lz4 or none: zstd takes the least room, and lz4 writes faster."""
    allow_replacement: Flag = False
    """Let a new, empty file system be made beside, or in place of, the one that is there."""


class BucketSpec(Model):
    """An S3 bucket: for data sets, checkpoints and whatever has to be kept for long."""

    name: ShareName | None = None
    """Clusters share it by this name; fixed once deployed; default: from the cluster's name."""
    existing: Annotated[str, Field(pattern=forms.BUCKET.pattern)] | None = None
    """Name of a bucket to use instead of a new one, for instance one that was kept."""
    access: BucketAccess = BucketAccess.READ_WRITE
    """What jobs may do in it: read, read-write, or read-write-delete; versions are never
    deleted."""
    mount: Mount | None = None
    """Where nodes and containers see it, to read only, for instance /data; default: jobs use S3's
    API, with the name in TRAINSHED_BUCKET."""
    mount_prefix: Annotated[str, Field(pattern=forms.PREFIX.pattern, max_length=512)] = ""
    """What of it is mounted, for instance datasets/; default: the whole bucket."""
    lifecycle: tuple[BucketLifecycle, ...] = ()
    """What becomes of objects as they grow old, for instance [{prefix: runs/, glacier_days: 90}];
    default: they stay as they are."""

    @model_validator(mode="after")
    def _new_or_existing(self) -> Self:
        if self.existing and self.lifecycle:
            raise ValueError(
                "lifecycle: for a new bucket, an existing one keeps its own; leave out with "
                "existing, or change that one by aws s3api put-bucket-lifecycle-configuration"
            )
        if self.mount_prefix and not self.mount:
            raise ValueError("mount_prefix is for a bucket that is mounted; give mount, too")
        return self


class StorageSpec(Model):
    """Shared storage."""

    lustre: LustreSpec | None = None
    """An FSx for Lustre file system; default: none."""
    efs: EfsSpec | None = None
    """An Amazon EFS file system; default: none."""
    openzfs: OpenZfsSpec | None = None
    """An FSx for OpenZFS file system; default: none."""
    bucket: BucketSpec | None = None
    """An S3 bucket; default: none."""
