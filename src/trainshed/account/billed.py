"""What an account is billed for by itself: its size, what is paid for it, and what deletes it.

Each is made of what its service describes, for whoever lists what is left of a cluster.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trainshed.aws import Region
from trainshed.catalogue import ebs
from trainshed.catalogue.lustre import included_metadata_iops
from trainshed.prices import (
    ECR_STORED,
    EFS_ARCHIVE,
    EFS_BACKUP,
    EFS_IA,
    EFS_STORED,
    GP3,
    GP3_IOPS,
    GP3_THROUGHPUT,
    KMS_KEY,
    LOAD_BALANCER_HOUR,
    LOGS_STORED,
    LUSTRE_BACKUP,
    LUSTRE_METADATA_IOPS,
    OPENZFS_BACKUP,
    OPENZFS_STORED,
    OPENZFS_THROUGHPUT,
    lustre_item,
)

GIB = 2**30
_TIERS = {
    EFS_STORED: "ValueInStandard",
    EFS_IA: "ValueInIA",
    EFS_ARCHIVE: "ValueInArchive",
}
_BACKUPS = {"LUSTRE": LUSTRE_BACKUP, "OPENZFS": OPENZFS_BACKUP}

# The names of prices, with how many units are paid for.
Charges = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """One resource.

    Attributes:
        what: its kind, for instance `file system`.
        name: its id or name.
        size: what it holds.
        since: when it was made; None where AWS does not say.
        charges: what is paid for it; empty for nothing, None where no price is known.
        command: deletes it.
    """

    what: str
    name: str
    size: str
    since: datetime | None
    charges: Charges | None
    command: str


def lustre_billed(described: Mapping[str, Any]) -> Billed:
    """Return a Lustre file system, as FSx describes it."""
    lustre, name = described["LustreConfiguration"], described["FileSystemId"]
    throughput = lustre.get("PerUnitStorageThroughput")
    deployment = lustre["DeploymentType"]
    # Intelligent-Tiering has no fixed size.
    capacity = described.get("StorageCapacity")
    return Billed(
        what="file system",
        name=name,
        size=f"{capacity or 'elastic'} GiB {deployment}"
        + (f", {throughput} MB/s per TiB" if throughput else ""),
        since=described.get("CreationTime"),
        charges=tuple(_of_lustre(lustre, capacity)) if capacity else None,
        command=f"aws fsx delete-file-system --file-system-id {name}",
    )


def openzfs_billed(described: Mapping[str, Any]) -> Billed:
    """Return an OpenZFS file system, as FSx describes it."""
    throughput = described["OpenZFSConfiguration"]["ThroughputCapacity"]
    # Intelligent-Tiering has no fixed size.
    name, capacity = described["FileSystemId"], described.get("StorageCapacity")
    return Billed(
        what="OpenZFS file system",
        name=name,
        size=f"{capacity or 'elastic'} GiB, {throughput} MB/s",
        since=described.get("CreationTime"),
        charges=((OPENZFS_STORED, capacity), (OPENZFS_THROUGHPUT, throughput))
        if capacity
        else None,
        command=f"aws fsx delete-file-system --file-system-id {name}",
    )


def backup_billed(described: Mapping[str, Any]) -> Billed:
    """Return a backup of a file system, as FSx describes it."""
    name, system = described["BackupId"], described["FileSystem"]
    # FSx API reference, Backup: what it takes is not said of every backup.
    size = described.get("SizeInBytes")
    of = f"backup of {system['FileSystemId']}"
    return Billed(
        what="backup",
        name=name,
        size=of if size is None else f"{of}, {size / GIB:.1f} GiB",
        since=described.get("CreationTime"),
        charges=None if size is None else ((_BACKUPS[system["FileSystemType"]], size / GIB),),
        command=f"aws fsx delete-backup --backup-id {name}",
    )


def efs_billed(described: Mapping[str, Any]) -> Billed:
    """Return an EFS file system, as EFS describes it."""
    name, sizes = described["FileSystemId"], described["SizeInBytes"]
    tiers = ((item, sizes.get(key, 0) / GIB) for item, key in _TIERS.items())
    return Billed(
        what="EFS file system",
        name=name,
        size=f"{sizes['Value'] / GIB:.1f} GiB",
        since=described.get("CreationTime"),
        charges=tuple((item, gib) for item, gib in tiers if gib),
        command=f"aws efs delete-file-system --file-system-id {name}",
    )


def recovery_point_billed(described: Mapping[str, Any]) -> Billed:
    """Return a backup of EFS, as AWS Backup describes it."""
    arn, vault = described["RecoveryPointArn"], described["BackupVaultName"]
    size = described.get("BackupSizeInBytes", 0) / GIB
    return Billed(
        what="recovery point",
        name=arn,
        size=f"backup of {described['ResourceArn'].rpartition('/')[2]}, {size:.1f} GiB",
        since=described["CreationDate"],
        charges=((EFS_BACKUP, size),),
        command=f"aws backup delete-recovery-point --backup-vault-name {vault} "
        f"--recovery-point-arn {arn}",
    )


def bucket_billed(region: Region, name: str, since: datetime | None = None) -> Billed:
    """Return a bucket, with its objects as far as one answer of S3 goes.

    Its price is not known: objects are of several storage classes, and have earlier versions.
    """
    answer = region.call("s3", "list_objects_v2", Bucket=name)
    found = answer.get("Contents", ())
    more = "more than " if answer["IsTruncated"] else ""
    return Billed(
        what="bucket",
        name=name,
        size=f"{more}{_count(len(found), 'object')}, {_gib(each['Size'] for each in found)}",
        since=since,
        charges=None,
        command=f"aws s3api delete-bucket --bucket {name}",
    )


def repository_billed(region: Region, described: Mapping[str, Any]) -> Billed:
    """Return a repository of ECR, with its images."""
    name = described["repositoryName"]
    sizes = [
        each.get("imageSizeInBytes", 0)
        for each in region.pages("ecr", "describe_images", "imageDetails", repositoryName=name)
    ]
    return Billed(
        what="repository",
        name=name,
        size=f"{_count(len(sizes), 'image')}, {_gib(sizes)}",
        since=described.get("createdAt"),
        charges=((ECR_STORED, sum(sizes) / GIB),),
        command=f"aws ecr delete-repository --force --repository-name {name}",
    )


def log_group_billed(described: Mapping[str, Any]) -> Billed:
    """Return a log group, as CloudWatch Logs describes it."""
    name, size = described["logGroupName"], described.get("storedBytes", 0)
    return Billed(
        what="log group",
        name=name,
        size=_gib([size]),
        since=datetime.fromtimestamp(described["creationTime"] / 1000, UTC),
        charges=((LOGS_STORED, size / GIB),),
        command=f"aws logs delete-log-group --log-group-name {name}",
    )


def volume_billed(described: Mapping[str, Any]) -> Billed:
    """Return a volume of EBS, as EC2 describes it; the price of gp3 alone is known."""
    name, gib, kind = described["VolumeId"], described["Size"], described["VolumeType"]
    return Billed(
        what="volume",
        name=name,
        size=f"{gib} GiB {kind}",
        since=described.get("CreateTime"),
        charges=tuple(_gp3(described)) if kind == "gp3" else None,
        command=f"aws ec2 delete-volume --volume-id {name}",
    )


def key_billed(name: str, since: datetime | None = None) -> Billed:
    """Return a key of KMS, without the key material of its first two rotations.

    AWS KMS pricing: that costs as much as the key, for each of the two.
    """
    return Billed(
        what="key",
        name=name,
        size="",
        since=since,
        charges=((KMS_KEY, 1),),
        command=f"aws kms schedule-key-deletion --key-id {name}",
    )


def load_balancer_billed(name: str, kind: str, since: datetime, command: str) -> Billed:
    """Return a load balancer of a type as Elastic Load Balancing calls it, or `classic`.

    Its hours are counted, not its traffic, nor the public addresses that one may have.
    """
    item = LOAD_BALANCER_HOUR.get(kind)
    return Billed(
        what="load balancer",
        name=name,
        size=kind,
        since=since,
        charges=((item, 1),) if item else None,
        command=command,
    )


def unprotect_eks_cluster(name: str) -> str:
    """Return the command that ends the deletion protection of an EKS cluster."""
    return (
        f"aws eks update-cluster-config --name {name} --no-deletion-protection && "
        f"aws eks wait cluster-active --name {name}"
    )


def _of_lustre(described: Mapping[str, Any], gib: int) -> Iterator[tuple[str, float]]:
    """Yield what a Lustre file system is billed for: its size, and its metadata IOPS above that."""
    throughput = described.get("PerUnitStorageThroughput")
    yield lustre_item(described["DeploymentType"].lower().replace("_", "-"), throughput), gib
    metadata = described.get("MetadataConfiguration", {})
    if metadata.get("Mode") == "USER_PROVISIONED":
        more = metadata["Iops"] - included_metadata_iops(gib)
        if more > 0:
            yield LUSTRE_METADATA_IOPS, more


def _gp3(described: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield what a gp3 volume is billed for: its size, and what it has more than each has."""
    yield GP3, described["Size"]
    for item, key, each_has in (
        (GP3_IOPS, "Iops", ebs.GP3_IOPS),
        (GP3_THROUGHPUT, "Throughput", ebs.GP3_THROUGHPUT),
    ):
        if (more := described.get(key, 0) - each_has) > 0:
            yield item, more


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _gib(sizes: Iterable[int]) -> str:
    return f"{sum(sizes) / GIB:.1f} GiB"
