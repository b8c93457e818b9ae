"""How fast Amazon EFS writes, in MiB/s.

EFS user guide, "Amazon EFS quotas that you can increase", "Performance specifications" and
"Throughput modes" (2026), of file systems in General Purpose mode.
"""

from typing import Final

# Default quotas of a Regional file system with Elastic throughput.
_FAST_REGIONS: Final = (
    "ap-northeast-1",
    "ap-southeast-1",
    "eu-central-1",
    "eu-west-1",
    "us-east-1",
    "us-east-2",
    "us-west-2",
)
_FAST_MIBPS: Final = 5 * 1024
# In all other regions, and of each file system in one zone.
SLOW_MIBPS: Final = 1024
# One client of a Regional file system with Elastic throughput that mounts by efs-utils 2.0 or
# later, as our AMIs do; any other client.
ELASTIC_CLIENT_MIBPS: Final = 1500
CLIENT_MIBPS: Final = 500
# With bursting throughput, while there are burst credits: for each TiB stored, and at least.
BURST_MIBPS_PER_TIB: Final = 100
LEAST_BURST_MIBPS: Final = 100


def elastic_mibps(region: str) -> int:
    """Return what a Regional file system with Elastic throughput writes."""
    return _FAST_MIBPS if region in _FAST_REGIONS else SLOW_MIBPS
