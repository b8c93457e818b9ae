"""How fast Amazon EFS writes, in MiB/s.

EFS user guide, "Performance specifications" and "Throughput modes" (2026), of Regional file systems
in General Purpose mode.
"""

from typing import Final

# With Elastic throughput in every region; in some up to 5 GiB/s ("Amazon EFS quotas that you can
# increase").
WRITE_MIBPS: Final = 1024
# One client without Elastic throughput. With it a client that mounts by efs-utils 2.0 or later, as
# our AMIs do, writes 1,500.
CLIENT_MIBPS: Final = 500
# With bursting throughput, while there are burst credits: for each TiB stored, and at least.
BURST_MIBPS_PER_TIB: Final = 100
LEAST_BURST_MIBPS: Final = 100
