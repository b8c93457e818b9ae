"""What AWS charges: a small dated snapshot, a project's own `prices.json`, and the AWS price list.

A price without a source is unknown. It is never zero.
"""

from trainshed.prices.commitments import COMMITMENTS, Commitment, CommitmentKind, Payment
from trainshed.prices.items import (
    ECR_STORED,
    EFS_STORED,
    EFS_WRITTEN,
    EKS_HOUR,
    ENDPOINT_GB,
    ENDPOINT_HOUR,
    GP3,
    GP3_IOPS,
    GP3_THROUGHPUT,
    LOGS_INGESTED,
    LOGS_STORED,
    LUSTRE_BACKUP,
    LUSTRE_METADATA_IOPS,
    NAT_GB,
    NAT_HOUR,
    OPENZFS_STORED,
    OPENZFS_THROUGHPUT,
    PUBLIC_IPV4_HOUR,
    PURCHASES,
    Purchase,
    instance_item,
    lustre_item,
    unit_of,
)
from trainshed.prices.lookup import OWN_FILE, PriceList, load_prices
from trainshed.prices.model import Price, Unit

__all__ = [
    "COMMITMENTS",
    "ECR_STORED",
    "EFS_STORED",
    "EFS_WRITTEN",
    "EKS_HOUR",
    "ENDPOINT_GB",
    "ENDPOINT_HOUR",
    "GP3",
    "GP3_IOPS",
    "GP3_THROUGHPUT",
    "LOGS_INGESTED",
    "LOGS_STORED",
    "LUSTRE_BACKUP",
    "LUSTRE_METADATA_IOPS",
    "NAT_GB",
    "NAT_HOUR",
    "OPENZFS_STORED",
    "OPENZFS_THROUGHPUT",
    "OWN_FILE",
    "PUBLIC_IPV4_HOUR",
    "PURCHASES",
    "Commitment",
    "CommitmentKind",
    "Payment",
    "Price",
    "PriceList",
    "Purchase",
    "Unit",
    "instance_item",
    "load_prices",
    "lustre_item",
    "unit_of",
]
