"""What has a price: the names of the entries of `prices.json`."""

from collections.abc import Mapping
from enum import StrEnum

from trainshed.errors import TrainshedError
from trainshed.prices.commitments import COMMITMENTS, Commitment
from trainshed.prices.model import Unit

GP3, GP3_THROUGHPUT, GP3_IOPS = "ebs-gp3", "ebs-gp3-throughput", "ebs-gp3-iops"
SNAPSHOT = "ebs-snapshot"
IO2 = "ebs-io2"
# Of one volume, with the last IOPS of the tier before, and its own last.
IO2_IOPS_TIERS = (
    ("ebs-io2-iops", 0, 32000),
    ("ebs-io2-iops-tier2", 32000, 64000),
    ("ebs-io2-iops-tier3", 64000, 256000),
)
NAT_HOUR, NAT_GB = "nat-gateway-hour", "nat-gateway-gb"
PUBLIC_IPV4_HOUR = "public-ipv4-hour"
# By the type of the load balancer, as Elastic Load Balancing calls it.
LOAD_BALANCER_HOUR = {
    kind: f"{kind}-load-balancer-hour" for kind in ("application", "network", "classic")
}
ENDPOINT_HOUR, ENDPOINT_GB = "endpoint-hour", "endpoint-gb"
LOGS_INGESTED, LOGS_STORED = "logs-ingested", "logs-stored"
# For a month: a custom metric of the first 10,000, a metric that an alarm looks at, a dashboard.
CLOUDWATCH_METRIC, CLOUDWATCH_ALARM = "cloudwatch-metric", "cloudwatch-alarm"
CLOUDWATCH_DASHBOARD = "cloudwatch-dashboard"
ECR_STORED = "ecr-stored"
KMS_KEY = "kms-key"
EKS_HOUR = "eks-hour"
LUSTRE_METADATA_IOPS, LUSTRE_BACKUP = "lustre/metadata-iops", "lustre/backup"
# Storage in all zones: Standard, Infrequent Access, Archive. Elastic throughput is for all that is
# read and written; what is read from Infrequent Access and Archive, or moved there, costs more.
EFS_STORED, EFS_IA, EFS_ARCHIVE = "efs-stored", "efs-ia", "efs-archive"
EFS_READ, EFS_WRITTEN = "efs-read", "efs-written"
EFS_IA_READ, EFS_IA_WRITTEN = "efs-ia-read", "efs-ia-written"
EFS_ARCHIVE_READ, EFS_ARCHIVE_WRITTEN = "efs-archive-read", "efs-archive-written"
EFS_BACKUP = "efs-backup"
# Of SSD storage, single-az-ha-2.
OPENZFS_STORED, OPENZFS_THROUGHPUT = "openzfs-stored", "openzfs-throughput"
OPENZFS_IOPS, OPENZFS_BACKUP = "openzfs-iops", "openzfs-backup"
# Of S3, by storage class, as its API calls them: what is stored, the requests by which lifecycle
# rules move objects to a class, and what is read from it, for which archives are restored at
# standard speed.
S3_STORED = {
    "STANDARD": "s3-standard",
    "STANDARD_IA": "s3-standard-ia",
    "GLACIER_IR": "s3-glacier-ir",
    "GLACIER": "s3-glacier",
    "DEEP_ARCHIVE": "s3-deep-archive",
}
S3_MOVED = {name: f"{item}-moved" for name, item in S3_STORED.items() if name != "STANDARD"}
S3_READ = {name: f"{item}-read" for name, item in S3_STORED.items() if name != "STANDARD"}
# Objects that S3 Intelligent-Tiering watches.
S3_MONITORED = "s3-monitored"

_UNITS = {
    GP3: Unit.GB_MONTH,
    GP3_THROUGHPUT: Unit.MIBPS_MONTH,
    GP3_IOPS: Unit.IOPS_MONTH,
    SNAPSHOT: Unit.GB_MONTH,
    IO2: Unit.GB_MONTH,
    **{item: Unit.IOPS_MONTH for item, _, _ in IO2_IOPS_TIERS},
    NAT_HOUR: Unit.HOUR,
    NAT_GB: Unit.GB,
    PUBLIC_IPV4_HOUR: Unit.HOUR,
    **dict.fromkeys(LOAD_BALANCER_HOUR.values(), Unit.HOUR),
    ENDPOINT_HOUR: Unit.HOUR,
    ENDPOINT_GB: Unit.GB,
    LOGS_INGESTED: Unit.GB,
    LOGS_STORED: Unit.GB_MONTH,
    **dict.fromkeys((CLOUDWATCH_METRIC, CLOUDWATCH_ALARM, CLOUDWATCH_DASHBOARD), Unit.MONTH),
    ECR_STORED: Unit.GB_MONTH,
    KMS_KEY: Unit.MONTH,
    EKS_HOUR: Unit.HOUR,
    LUSTRE_METADATA_IOPS: Unit.IOPS_MONTH,
    LUSTRE_BACKUP: Unit.GB_MONTH,
    **dict.fromkeys((EFS_STORED, EFS_IA, EFS_ARCHIVE, EFS_BACKUP), Unit.GB_MONTH),
    **dict.fromkeys((EFS_READ, EFS_WRITTEN, EFS_IA_READ, EFS_IA_WRITTEN), Unit.GB),
    **dict.fromkeys((EFS_ARCHIVE_READ, EFS_ARCHIVE_WRITTEN), Unit.GB),
    OPENZFS_STORED: Unit.GB_MONTH,
    OPENZFS_THROUGHPUT: Unit.MBPS_MONTH,
    OPENZFS_IOPS: Unit.IOPS_MONTH,
    OPENZFS_BACKUP: Unit.GB_MONTH,
    **dict.fromkeys(S3_STORED.values(), Unit.GB_MONTH),
    **dict.fromkeys(S3_MOVED.values(), Unit.THOUSAND_REQUESTS),
    **dict.fromkeys(S3_READ.values(), Unit.GB),
    S3_MONITORED: Unit.THOUSAND_OBJECTS_MONTH,
}
_LUSTRE = "lustre/"


class Purchase(StrEnum):
    """How an instance is bought."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    CAPACITY_BLOCK = "capacity-block"


_PURCHASES: tuple[Purchase | Commitment, ...] = (
    Purchase.ON_DEMAND,
    Purchase.SPOT,
    *COMMITMENTS,
    Purchase.CAPACITY_BLOCK,
)
# All ways to buy an instance, by name, in the order in which they are shown.
PURCHASES: Mapping[str, Purchase | Commitment] = {str(each): each for each in _PURCHASES}


def instance_item(purchase: Purchase | Commitment, instance_type: str) -> str:
    """Name the price of an instance."""
    return f"{purchase}/{instance_type}"


def lustre_item(deployment: str, throughput: int | None) -> str:
    """Name the price of a Lustre file system's storage.

    Args:
        deployment: `scratch-2` or `persistent-2`.
        throughput: MB/s per TiB of persistent-2; None for scratch-2.
    """
    return f"{_LUSTRE}{deployment}" + ("" if throughput is None else f"/{throughput}")


def unit_of(item: str) -> Unit:
    """Return the unit of an item's price.

    Raises:
        TrainshedError: there is no such item.
    """
    if item in _UNITS:
        return _UNITS[item]
    kind, _, rest = item.partition("/")
    if rest and kind in PURCHASES:
        return Unit.HOUR
    if rest and item.startswith(_LUSTRE):
        return Unit.GB_MONTH
    raise TrainshedError(
        f"{item!r} is not an item with a price (known: {', '.join(_UNITS)}, "
        f"lustre/DEPLOYMENT/THROUGHPUT, and {'/TYPE, '.join(PURCHASES)}/TYPE)"
    )
