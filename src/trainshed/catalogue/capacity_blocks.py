"""The limits of Capacity Blocks: EC2 user guide, "Capacity Blocks for ML"."""

from datetime import timedelta

NODES_MAX = 64
# EC2 API reference, DescribeCapacityBlockOfferings, CapacityDurationHours: 182 days.
HOURS_MAX = 182 * 24
# Instances are ended from this long before the end on.
ENDS_EARLY = timedelta(minutes=30)
