"""What was asked, exactly as asked, and where in the file. Knows nothing of AWS."""

from trainshed.orchestrators import Orchestrator
from trainshed.spec.bucket_lifecycle import BucketLifecycle
from trainshed.spec.calendar import Calendar, WindowSpec
from trainshed.spec.errors import SpecError
from trainshed.spec.files import ami_pipeline_file, cluster_files
from trainshed.spec.findings import FindingsSpec
from trainshed.spec.iam import IamSpec
from trainshed.spec.image import ImageSpec
from trainshed.spec.job import BucketAccess, BucketGrant, JobSpec
from trainshed.spec.models import (
    CapacityBlock,
    ClusterSpec,
    Endpoint,
    InstanceSpec,
    Market,
    NetworkSpec,
    NodeRange,
    Reservation,
    SpotOptions,
)
from trainshed.spec.pipeline import AmiPipelineSpec
from trainshed.spec.reader import ReadResult, read_ami_pipeline, read_spec
from trainshed.spec.scratch import EbsScratchSpec, VolumeType
from trainshed.spec.storage import (
    BucketSpec,
    Compression,
    DeploymentType,
    EfsSpec,
    LustreSpec,
    OpenZfsCompression,
    OpenZfsSpec,
    S3Link,
    StorageSpec,
)
from trainshed.spec.training import TrainingSpec

__all__ = [
    "AmiPipelineSpec",
    "BucketAccess",
    "BucketGrant",
    "BucketLifecycle",
    "BucketSpec",
    "Calendar",
    "CapacityBlock",
    "ClusterSpec",
    "Compression",
    "DeploymentType",
    "EbsScratchSpec",
    "EfsSpec",
    "Endpoint",
    "FindingsSpec",
    "IamSpec",
    "ImageSpec",
    "InstanceSpec",
    "JobSpec",
    "LustreSpec",
    "Market",
    "NetworkSpec",
    "NodeRange",
    "OpenZfsCompression",
    "OpenZfsSpec",
    "Orchestrator",
    "ReadResult",
    "Reservation",
    "S3Link",
    "SpecError",
    "SpotOptions",
    "StorageSpec",
    "TrainingSpec",
    "VolumeType",
    "WindowSpec",
    "ami_pipeline_file",
    "cluster_files",
    "read_ami_pipeline",
    "read_spec",
]
