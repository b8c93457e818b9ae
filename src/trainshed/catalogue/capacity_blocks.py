"""The limits of Capacity Blocks: EC2 user guide, "Capacity Blocks for ML"."""

from datetime import timedelta

NODES_MAX = 64
# EC2 API reference, DescribeCapacityBlockOfferings, CapacityDurationHours: 182 days.
HOURS_MAX = 182 * 24
# "How Capacity Blocks work": instances are ended from this long before the end on.
_ENDS_EARLY = timedelta(minutes=30)
# Those of UltraServers, of which the catalogue has Trn2's ("Amazon EC2 UltraServers").
_ULTRASERVERS_END_EARLY = timedelta(minutes=60)
_ULTRASERVERS = ("trn2u.",)


def ends_early(instance_type: str) -> timedelta:
    """Return how long before the end of a Capacity Block EC2 begins to end its instances.

    Args:
        instance_type: of these, for instance `p5.48xlarge`.
    """
    of_ultraservers = instance_type.startswith(_ULTRASERVERS)
    return _ULTRASERVERS_END_EARLY if of_ultraservers else _ENDS_EARLY
