"""What has a price: the names of the entries of `prices.json`."""

from collections.abc import Mapping
from enum import StrEnum

from trainshed.errors import TrainshedError
from trainshed.prices.commitments import COMMITMENTS, Commitment
from trainshed.prices.model import Unit

GP3, GP3_THROUGHPUT, GP3_IOPS = "ebs-gp3", "ebs-gp3-throughput", "ebs-gp3-iops"
NAT_HOUR, NAT_GB = "nat-gateway-hour", "nat-gateway-gb"
PUBLIC_IPV4_HOUR = "public-ipv4-hour"
ENDPOINT_HOUR, ENDPOINT_GB = "endpoint-hour", "endpoint-gb"
LOGS_INGESTED, LOGS_STORED = "logs-ingested", "logs-stored"
ECR_STORED = "ecr-stored"
EKS_HOUR = "eks-hour"
LUSTRE_METADATA_IOPS, LUSTRE_BACKUP = "lustre/metadata-iops", "lustre/backup"
# Of Standard storage in all zones, and with Elastic throughput.
EFS_STORED, EFS_WRITTEN = "efs-stored", "efs-written"
# Of SSD storage, single-az-ha-2.
OPENZFS_STORED, OPENZFS_THROUGHPUT = "openzfs-stored", "openzfs-throughput"

_UNITS = {
    GP3: Unit.GB_MONTH,
    GP3_THROUGHPUT: Unit.MIBPS_MONTH,
    GP3_IOPS: Unit.IOPS_MONTH,
    NAT_HOUR: Unit.HOUR,
    NAT_GB: Unit.GB,
    PUBLIC_IPV4_HOUR: Unit.HOUR,
    ENDPOINT_HOUR: Unit.HOUR,
    ENDPOINT_GB: Unit.GB,
    LOGS_INGESTED: Unit.GB,
    LOGS_STORED: Unit.GB_MONTH,
    ECR_STORED: Unit.GB_MONTH,
    EKS_HOUR: Unit.HOUR,
    LUSTRE_METADATA_IOPS: Unit.IOPS_MONTH,
    LUSTRE_BACKUP: Unit.GB_MONTH,
    EFS_STORED: Unit.GB_MONTH,
    EFS_WRITTEN: Unit.GB,
    OPENZFS_STORED: Unit.GB_MONTH,
    OPENZFS_THROUGHPUT: Unit.MBPS_MONTH,
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
