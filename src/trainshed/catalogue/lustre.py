"""What FSx for Lustre sells, and what it needs of a network.

FSx for Lustre API reference, CreateFileSystem and CreateFileSystemLustreConfiguration; user guide.
"""

import math
from typing import NamedTuple

# MB/s per TiB of persistent-2, and of scratch-2.
THROUGHPUTS = (125, 250, 500, 1000)
SCRATCH_THROUGHPUT = 200
_PERSISTENT_1_THROUGHPUTS = {"SSD": (50, 100, 200), "HDD": (12, 40)}
# "Throughput to individual client instances", in Gbps: over ENA, with one object storage server
# over ENA, and over EFA.
CLIENT_GBPS, CLIENT_SERVER_GBPS, EFA_CLIENT_GBPS = 100, 5, 700
# Inferred: SSD storage has a server for each 1.2 TiB.
SERVER_GIB = 1200
# "File system access control with Amazon VPC": TCP, from the first to the last.
SERVER_PORT = 988
PEER_PORTS = range(1018, 1024)


class Sizes(NamedTuple):
    """The sizes of a kind of file system, in GiB.

    Attributes:
        first: the smallest ones.
        step: the others are the multiples of this that are larger.
    """

    first: tuple[int, ...]
    step: int

    def has(self, gib: int) -> bool:
        """Whether FSx makes a file system of a size."""
        return gib in self.first or (gib % self.step == 0 and gib > self.first[-1])

    def at_least(self, gib: float) -> int:
        """Return the smallest size that is not smaller."""
        steps = math.ceil(gib / self.step) * self.step
        return next((size for size in self.first if size >= gib), steps)


SSD_SIZES = Sizes((1200, 2400), 2400)
_SCRATCH_1_SIZES = Sizes((1200, 2400), 3600)
_HDD_SIZES = {12: Sizes((6000,), 6000), 40: Sizes((1800,), 1800)}
# "Working with EFA-enabled file systems".
_EFA_STEPS = {1000: 4800, 500: 9600, 250: 19200, 125: 38400}

# "File system metadata performance": the metadata IOPS that come with the storage, by the smallest
# storage in GiB that has them. From 48000 GiB on it is 12000 for each 24000 GiB.
_INCLUDED_IOPS = ((48000, 0), (12000, 12000), (4800, 6000), (2400, 3000), (0, 1500))
_IOPS_STEP, _STEP_GIB = 12000, 24000


def included_metadata_iops(gib: int) -> int:
    """Return the metadata IOPS that come with the storage of a persistent-2 file system."""
    included = next(iops for least, iops in _INCLUDED_IOPS if gib >= least)
    return included or gib // _STEP_GIB * _IOPS_STEP


def sustained_throughput(gib: int, per_tib: int) -> int:
    """Return what a file system lets its clients write all the time, in MB/s."""
    return gib * per_tib // 1024


def throughputs(deployment: str, disk: str) -> tuple[int, ...]:
    """Return what a file system may have, in MB/s per TiB; none where it is not chosen.

    Args:
        deployment: its type, for instance `PERSISTENT_2`.
        disk: `SSD` or `HDD`.
    """
    if deployment == "PERSISTENT_2":
        return THROUGHPUTS
    return _PERSISTENT_1_THROUGHPUTS.get(disk, ()) if deployment == "PERSISTENT_1" else ()


def sizes(deployment: str, disk: str, throughput: int | None) -> Sizes | None:
    """Return the sizes of a file system without EFA; None where they are not known.

    Args:
        deployment: its type, for instance `PERSISTENT_2`.
        disk: `SSD` or `HDD`.
        throughput: in MB/s per TiB, where it is chosen.
    """
    if disk == "HDD":
        return _HDD_SIZES.get(throughput or 0)
    return _SCRATCH_1_SIZES if deployment == "SCRATCH_1" else SSD_SIZES


def efa_sizes(throughput: int | None) -> Sizes | None:
    """Return the sizes of a file system with EFA on SSD, by its MB/s per TiB."""
    step = _EFA_STEPS.get(throughput or 0)
    return Sizes((step,), step) if step else None
