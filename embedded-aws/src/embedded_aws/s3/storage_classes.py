"""The storage classes of objects, and how lifecycle rules move objects between them.

S3 user guide, "Transitioning objects": only to colder classes; after 30 days to infrequent access;
what a class charges for at least, it keeps before the next transition of the same rule.
"""

from collections.abc import Mapping

_ALL = (
    "STANDARD_IA",
    "INTELLIGENT_TIERING",
    "ONEZONE_IA",
    "GLACIER_IR",
    "GLACIER",
    "DEEP_ARCHIVE",
)
# Whose objects are read after a restore only.
ARCHIVES = ("GLACIER", "DEEP_ARCHIVE")
# Where objects go from a class, the coldest last.
COLDER: Mapping[str, tuple[str, ...]] = {
    "STANDARD": _ALL,
    "REDUCED_REDUNDANCY": _ALL,
    "STANDARD_IA": _ALL[1:],
    "INTELLIGENT_TIERING": _ALL[2:],
    "ONEZONE_IA": ARCHIVES,
    "GLACIER_IR": ARCHIVES,
    "GLACIER": ARCHIVES[1:],
    "DEEP_ARCHIVE": (),
}
# Classes that take objects after 30 days only.
INFREQUENT = ("STANDARD_IA", "ONEZONE_IA")
# Days for which a class charges at least.
KEPT_DAYS = {"STANDARD_IA": 30, "ONEZONE_IA": 30, "GLACIER_IR": 90, "GLACIER": 90}
