"""What was asked, exactly as asked, and where in the file. Knows no AWS facts."""

from trainshed.spec.files import cluster_files, image_pipeline_file
from trainshed.spec.iam import IamSpec
from trainshed.spec.models import (
    BucketAccess,
    BucketGrant,
    CapacityBlock,
    ClusterSpec,
    Compression,
    DeploymentType,
    Endpoint,
    ImageSpec,
    InstanceSpec,
    JobSpec,
    LustreSpec,
    NetworkSpec,
    NodeRange,
    Reservation,
    S3Link,
    StorageSpec,
)
from trainshed.spec.pipeline import Cell, ImagePipelineSpec
from trainshed.spec.problems import Path, Problem, SpecError, Where
from trainshed.spec.reader import Reading, read_image_pipeline, read_spec

__all__ = [
    "BucketAccess",
    "BucketGrant",
    "CapacityBlock",
    "Cell",
    "ClusterSpec",
    "Compression",
    "DeploymentType",
    "Endpoint",
    "IamSpec",
    "ImagePipelineSpec",
    "ImageSpec",
    "InstanceSpec",
    "JobSpec",
    "LustreSpec",
    "NetworkSpec",
    "NodeRange",
    "Path",
    "Problem",
    "Reading",
    "Reservation",
    "S3Link",
    "SpecError",
    "StorageSpec",
    "Where",
    "cluster_files",
    "image_pipeline_file",
    "read_image_pipeline",
    "read_spec",
]
