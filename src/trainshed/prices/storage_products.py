"""The products of EFS, FSx for OpenZFS and S3 in the AWS price list.

Usage types: EFS user guide, "Understanding billing and usage reports for Amazon EFS"; S3 user
guide, "Understanding your AWS billing and usage reports for Amazon S3".
"""

from trainshed.prices.items import (
    EFS_ARCHIVE,
    EFS_ARCHIVE_READ,
    EFS_ARCHIVE_WRITTEN,
    EFS_BACKUP,
    EFS_IA,
    EFS_IA_READ,
    EFS_IA_WRITTEN,
    EFS_READ,
    EFS_STORED,
    EFS_WRITTEN,
    OPENZFS_BACKUP,
    OPENZFS_IOPS,
    OPENZFS_STORED,
    OPENZFS_THROUGHPUT,
    S3_MONITORED,
    S3_MOVED,
    S3_READ,
    S3_STORED,
)
from trainshed.prices.product import Product

_EFS, _S3, _DEEP_ARCHIVE = "AmazonEFS", "AmazonS3", "AmazonS3GlacierDeepArchive"


def _product(item: str, service: str, usage_type: str, **attributes: str) -> Product:
    return Product(item=item, service=service, usage_type=usage_type, attributes=attributes)


def _openzfs(item: str, usage_type: str) -> Product:
    return Product(
        item=item,
        service="AmazonFSx",
        filters={"fileSystemType": "OpenZFS"},
        usage_type=usage_type,
    )


# Public cost tools tell reads from writes by the attribute accessType. Infrequent Access has two
# prices, of which "ET" is that with Elastic throughput.
_OF_EFS = (
    _product(EFS_STORED, _EFS, "TimedStorage-ByteHrs"),
    _product(EFS_IA, _EFS, "IATimedStorage-ET-ByteHrs"),
    _product(EFS_ARCHIVE, _EFS, "ArchiveTimedStorage-ByteHrs"),
    _product(EFS_READ, _EFS, "ETDataAccess-Bytes", accessType="Read"),
    _product(EFS_WRITTEN, _EFS, "ETDataAccess-Bytes", accessType="Write"),
    _product(EFS_IA_READ, _EFS, "IADataAccess-Bytes", accessType="Read"),
    _product(EFS_IA_WRITTEN, _EFS, "IADataAccess-Bytes", accessType="Write"),
    _product(EFS_ARCHIVE_READ, _EFS, "ArchiveDataAccess-Bytes", accessType="Read"),
    _product(EFS_ARCHIVE_WRITTEN, _EFS, "ArchiveDataAccess-Bytes", accessType="Write"),
    # github.com/infracost/infracost, internal/resources/aws/backup_vault.go
    Product(
        item=EFS_BACKUP,
        service="AWSBackup",
        filters={"productFamily": "AWS Backup Storage"},
        usage_type="WarmStorage-ByteHrs-EFS",
    ),
)
# Public cost tools have SAZ2 for single-az-2 of OpenZFS, with the unit MiBps-Mo for what AWS calls
# MBps, and SAZ_2N2 for the pairs of servers of ONTAP. Inferred: that SAZ_2N2 is single-az-ha-2 of
# OpenZFS, too, and the usage type of its IOPS, which is ONTAP's. That of backups:
# github.com/infracost/infracost, internal/resources/aws/fsx_openzfs_file_system.go
_OF_OPENZFS = (
    _openzfs(OPENZFS_STORED, "Storage.SAZ_2N2:SSD"),
    _openzfs(OPENZFS_THROUGHPUT, "ThroughputCapacity.SAZ_2N2"),
    _openzfs(OPENZFS_IOPS, "ProvisionedSSDIOPS.SAZ_2N2"),
    _openzfs(OPENZFS_BACKUP, "BackupUsage"),
)
# github.com/scttfrdmn/objectfs, offerfile: several prices have one usage type, and the operation
# or the volume type tells them apart. github.com/infracost/infracost,
# internal/resources/aws/s3_glacier_deep_archive_storage_class.go: Deep Archive is a service of its
# own, but not the requests that move objects there.
_OF_S3 = (
    _product(S3_STORED["STANDARD"], _S3, "TimedStorage-ByteHrs", volumeType="Standard"),
    _product(S3_STORED["STANDARD_IA"], _S3, "TimedStorage-SIA-ByteHrs"),
    _product(S3_STORED["GLACIER_IR"], _S3, "TimedStorage-GIR-ByteHrs"),
    _product(S3_STORED["GLACIER"], _S3, "TimedStorage-GlacierByteHrs"),
    _product(S3_STORED["DEEP_ARCHIVE"], _DEEP_ARCHIVE, "TimedStorage-GDA-ByteHrs"),
    # The usage types are Requests-Tier3 and Requests-Tier4, which have other operations, too.
    _product(S3_MOVED["STANDARD_IA"], _S3, "", operation="S3-SIATransition"),
    _product(S3_MOVED["GLACIER_IR"], _S3, "", operation="S3-GIRTransition"),
    _product(S3_MOVED["GLACIER"], _S3, "", operation="S3-GlacierTransition"),
    _product(S3_MOVED["DEEP_ARCHIVE"], _S3, "", operation="S3-GDATransition"),
    _product(S3_READ["STANDARD_IA"], _S3, "Retrieval-SIA"),
    _product(S3_READ["GLACIER_IR"], _S3, "Retrieval-GIR"),
    _product(S3_READ["GLACIER"], _S3, "Standard-Retrieval-Bytes", operation="RestoreObject"),
    _product(S3_READ["DEEP_ARCHIVE"], _DEEP_ARCHIVE, "Standard-Retrieval-Bytes"),
    _product(S3_MONITORED, _S3, "Monitoring-Automation-INT"),
)
STORAGE_PRODUCTS = (*_OF_EFS, *_OF_OPENZFS, *_OF_S3)
