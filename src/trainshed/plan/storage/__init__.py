"""The shared storage of a cluster: of each kind what AWS offers, and what is chosen."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from trainshed.catalogue import InstanceType
from trainshed.plan.network import NetworkPlan
from trainshed.plan.notes import Notes
from trainshed.plan.storage.bucket import BucketPlan, plan_bucket
from trainshed.plan.storage.efs import EfsPlan, plan_efs
from trainshed.plan.storage.lustre import LustrePlan, plan_lustre
from trainshed.plan.storage.model import Mount, StorageKind, StoragePlan, parameter_prefix
from trainshed.plan.storage.openzfs import OpenZfsPlan, plan_openzfs
from trainshed.plan.zone import Zone

__all__ = [
    "STORAGES",
    "BucketPlan",
    "EfsPlan",
    "FsxPlan",
    "LustrePlan",
    "Mount",
    "OpenZfsPlan",
    "StorageKind",
    "StoragePlan",
    "parameter_prefix",
    "plan_storage",
]

# A file system of FSx, which is in one zone.
FsxPlan = LustrePlan | OpenZfsPlan
# Every kind, in the order in which nodes mount them.
STORAGES: tuple[type[StoragePlan], ...] = (LustrePlan, EfsPlan, OpenZfsPlan, BucketPlan)


def plan_storage(
    notes: Notes,
    region: str | None,
    network: NetworkPlan,
    zone: Zone | None,
    instance: InstanceType | None,
) -> tuple[StoragePlan, ...]:
    """Resolve `storage`, in the order in which nodes mount it."""
    planned = tuple(_planned(notes, region, network, zone, instance))
    _check_existing(notes, planned)
    _check_mounts(notes, planned)
    if not planned:
        notes.decide("storage", "none", "storage is not given")
    return planned


def _check_existing(notes: Notes, storages: Sequence[StoragePlan]) -> None:
    """Refuse one thing as storage of two kinds."""
    named: dict[str, StoragePlan] = {}
    for storage in filter(lambda each: each.existing, storages):
        other = named.setdefault(str(storage.existing), storage)
        if other is not storage:
            notes.problem(
                f"{storage.field}.existing",
                f"{storage.existing} is {other.field}, too; a file system is of one kind",
            )


def _check_mounts(notes: Notes, storages: Sequence[StoragePlan]) -> None:
    """Refuse storage that would hide other storage, or be mounted in it."""
    mounted = [(PurePosixPath(each.mount), each) for each in storages if each.mount]
    for later, (mine, storage) in enumerate(mounted):
        for theirs, other in mounted[:later]:
            if mine.is_relative_to(theirs) or theirs.is_relative_to(mine):
                notes.problem(
                    f"{storage.field}.mount",
                    f"{mine} and {theirs} of {other.field} are in each other's way; "
                    "give folders of which none is in another",
                )


def _planned(
    notes: Notes,
    region: str | None,
    network: NetworkPlan,
    zone: Zone | None,
    instance: InstanceType | None,
) -> Iterator[StoragePlan]:
    asked = notes.spec.storage
    if asked.lustre:
        yield plan_lustre(notes, asked.lustre, network.name, zone, instance)
    if asked.efs:
        yield plan_efs(notes, asked.efs, network.name)
    if asked.openzfs:
        yield plan_openzfs(notes, asked.openzfs, network.name, zone)
    if asked.bucket:
        yield plan_bucket(notes, asked.bucket, network.name, region)
