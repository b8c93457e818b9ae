"""The storage classes of S3 that lifecycle rules move objects to.

S3 user guide, "Understanding and managing Amazon S3 storage classes" and "Transitioning objects
using Amazon S3 Lifecycle".
"""

from dataclasses import dataclass

# Smaller objects move to no class, unless a rule says so ("Constraints and considerations").
SMALLEST_MOVED_KIB = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageClass:
    """A storage class.

    Attributes:
        name: as S3's API calls it.
        title: as people call it.
        days: that an object is paid for at least, whenever it is deleted or moved on.
        archive: an object is read only after a restore.
        added_kib: what is added to each object, at the price of the class.
        added_standard_kib: what is added to each object, at the price of Standard.
    """

    name: str
    title: str
    days: int
    archive: bool = False
    added_kib: int = 0
    added_standard_kib: int = 0


# From warm to cold, as objects may move.
STANDARD_IA = StorageClass(name="STANDARD_IA", title="Standard-IA", days=30)
GLACIER_IR = StorageClass(name="GLACIER_IR", title="Glacier Instant Retrieval", days=90)
GLACIER = StorageClass(
    name="GLACIER", title="Glacier", days=90, archive=True, added_kib=32, added_standard_kib=8
)
DEEP_ARCHIVE = StorageClass(
    name="DEEP_ARCHIVE",
    title="Glacier Deep Archive",
    days=180,
    archive=True,
    added_kib=32,
    added_standard_kib=8,
)
