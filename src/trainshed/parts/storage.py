"""The shared storage of a cluster."""

from collections.abc import Iterator, Mapping

from trainshed.parts.data_bucket import data_bucket_part
from trainshed.parts.efs import efs_part
from trainshed.parts.lustre import lustre_part
from trainshed.parts.model import Arrow, PlannedPart
from trainshed.parts.openzfs import openzfs_part
from trainshed.plan import BucketPlan, ClusterPlan, EfsPlan, LustrePlan, OpenZfsPlan, StorageKind

# The parts that are shared storage, in the order of pictures.
STORAGE_PARTS: Mapping[StorageKind, str] = {
    StorageKind.LUSTRE: "storage",
    StorageKind.EFS: "efs",
    StorageKind.OPENZFS: "openzfs",
    StorageKind.BUCKET: "s3",
}


def storage_parts(plan: ClusterPlan) -> Iterator[PlannedPart]:
    """Yield what the nodes share and mount."""
    for storage in plan.storages:
        match storage:
            case LustrePlan():
                yield lustre_part(storage)
            case EfsPlan():
                yield efs_part(storage)
            case OpenZfsPlan():
                yield openzfs_part(storage)
            case BucketPlan():
                yield data_bucket_part(storage)


def storage_links(plan: ClusterPlan) -> Iterator[Arrow]:
    """Yield the arrows from the nodes to what they mount, or their jobs call."""
    for storage in plan.storages:
        text = "mount" if storage.mount else "API"
        yield Arrow(start="nodes", end=STORAGE_PARTS[storage.kind], text=text)
