"""File systems, their backups, and buckets: data that were kept when their stacks were deleted."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainshed.account.billed import (
    Billed,
    backup_billed,
    bucket_billed,
    efs_billed,
    lustre_billed,
    openzfs_billed,
    recovery_point_billed,
)
from trainshed.aws import accepting
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.plan.storage import BucketPlan, EfsPlan, LustrePlan, OpenZfsPlan, StorageKind
from trainshed.plan.storage.bucket import is_own_bucket

# EFS user guide, "Automatic backups"; it is there once a file system of the region had them.
_AUTOMATIC = "aws/efs/automatic-backup-vault"
_GOING = frozenset({"DELETING", "DELETED", "deleting", "deleted"})
_OF_FSX: Mapping[str, tuple[StorageKind, Callable[[Mapping[str, Any]], Billed]]] = {
    "LUSTRE": (StorageKind.LUSTRE, lustre_billed),
    "OPENZFS": (StorageKind.OPENZFS, openzfs_billed),
}


def _fsx(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages("fsx", "describe_file_systems", "FileSystems"):
        kind, billed = _OF_FSX.get(each["FileSystemType"], (None, None))
        name = _shared_name(each, kind)
        if billed and name and each["Lifecycle"] not in _GOING:
            yield Candidate(billed=billed(each), why=_data_of(kind, name), kept=True)


def _backups(place: SearchedRegion) -> Iterator[Candidate]:
    systems = {
        each["FileSystemId"]
        for each in place.region.pages("fsx", "describe_file_systems", "FileSystems")
    }
    for each in place.region.pages("fsx", "describe_backups", "Backups"):
        system = each["FileSystem"]
        kind, _ = _OF_FSX.get(system.get("FileSystemType", ""), (None, None))
        name = _shared_name(each, kind) or _shared_name(system, kind)
        # Those of a file system that is there follow its settings.
        if name and system["FileSystemId"] not in systems and each["Lifecycle"] not in _GOING:
            yield Candidate(billed=backup_billed(each), why=_data_of(kind, name), kept=True)


def _efs(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages("efs", "describe_file_systems", "FileSystems"):
        name = _shared_name(each, StorageKind.EFS)
        if name and each["LifeCycleState"] not in _GOING:
            billed = efs_billed(each)
            yield Candidate(billed=billed, why=_data_of(StorageKind.EFS, name), kept=True)


def _recovery_points(place: SearchedRegion) -> Iterator[Candidate]:
    """Yield automatic backups of file systems that are gone."""
    region = place.region
    vaults = region.pages("backup", "list_backup_vaults", "BackupVaultList")
    if all(each["BackupVaultName"] != _AUTOMATIC for each in vaults):
        return
    systems = {
        each["FileSystemArn"]
        for each in region.pages("efs", "describe_file_systems", "FileSystems")
    }
    for each in region.pages(
        "backup",
        "list_recovery_points_by_backup_vault",
        "RecoveryPoints",
        BackupVaultName=_AUTOMATIC,
        ByResourceType="EFS",
    ):
        if each["ResourceArn"] in systems or each["Status"] in _GOING:
            continue
        # AWS Backup developer guide, "Copying tags": it has those of its file system.
        tags = region.call("backup", "list_tags", ResourceArn=each["RecoveryPointArn"])["Tags"]
        if name := tags.get(f"trainshed:{StorageKind.EFS}"):
            ends = each.get("CalculatedLifecycle", {}).get("DeleteAt")
            why = _data_of(StorageKind.EFS, name) + (
                f"; ends by itself on {ends:%F}" if ends else ""
            )
            yield Candidate(billed=recovery_point_billed(each), why=why, kept=True)


def _buckets(place: SearchedRegion) -> Iterator[Candidate]:
    for each in place.region.pages("s3", "list_buckets", "Buckets"):
        name = each["Name"]
        if is_own_bucket(name, place.account, place.region.name):
            # Gone meanwhile.
            with accepting("NoSuchBucket"):
                yield Candidate(
                    billed=bucket_billed(place.region, name, each.get("CreationDate")),
                    why="data of clusters; empty it first, of earlier versions too",
                    kept=True,
                )


def _shared_name(described: Mapping[str, Any], kind: StorageKind | None) -> str | None:
    """Return the name by which clusters share storage of a kind; None where it is not ours."""
    tags = {each["Key"]: each["Value"] for each in described.get("Tags", ())}
    return tags.get(f"trainshed:{kind}")


def _data_of(kind: StorageKind | None, name: str) -> str:
    return f"data of storage.{kind}, name {name}"


STORAGE_LOOKS = (
    OrphanSearch(
        at="FSx file systems",
        types=(*LustrePlan.types(), *OpenZfsPlan.types()),
        actions=("fsx:DescribeFileSystems",),
        find=_fsx,
    ),
    OrphanSearch(
        at="FSx backups",
        types=(),
        actions=("fsx:DescribeBackups", "fsx:DescribeFileSystems"),
        find=_backups,
    ),
    OrphanSearch(
        at="EFS file systems",
        types=EfsPlan.types(),
        actions=("elasticfilesystem:DescribeFileSystems",),
        find=_efs,
    ),
    OrphanSearch(
        at="recovery points of EFS in AWS Backup",
        types=(),
        actions=(
            "backup:ListBackupVaults",
            "backup:ListRecoveryPointsByBackupVault",
            "backup:ListTags",
            "elasticfilesystem:DescribeFileSystems",
        ),
        find=_recovery_points,
    ),
    OrphanSearch(
        at="S3 buckets",
        types=BucketPlan.types(),
        actions=("s3:ListAllMyBuckets", "s3:ListBucket"),
        find=_buckets,
    ),
)
