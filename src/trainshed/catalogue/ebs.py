"""What EBS sells: the limits of its volumes, and what reaches an instance.

EC2 API reference, `EbsBlockDevice` (2026): sizes, IOPS, throughput of gp3, and what io2 reaches on
Xen. EBS user guide, "General Purpose SSD volumes" and "Provisioned IOPS SSD volumes": what gp3 has
without a charge, the ratios, and the throughput of io2.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.catalogue.model import InstanceType

# What each gp3 volume has.
GP3_THROUGHPUT, GP3_IOPS = 125, 3000
# At most 0.25 MiB/s of gp3 for each IOPS.
GP3_IOPS_FOR_EACH_MIB = 4
# io2 on instances that are not of the Nitro System.
IO2_IOPS_ON_XEN = 32000
# Throughput of io2 for each IOPS, in MiB/s.
IO2_MIB_FOR_EACH_IOPS = 0.256
# EC2 user guide, "Device names for volumes": those recommended for EBS volumes beside the root.
DEVICE_NAMES = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
_MIB_FOR_MEGABITS = 1e6 / 8 / 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeLimits:
    """What one volume of a type may have.

    Attributes:
        gib: the smallest and the largest size.
        iops: the fewest and the most IOPS.
        iops_for_each_gib: the most that may be provisioned for each GiB.
        throughput: the most, in MiB/s.
    """

    gib: tuple[int, int]
    iops: tuple[int, int]
    iops_for_each_gib: int
    throughput: int


VOLUME_LIMITS: Mapping[str, VolumeLimits] = {
    "gp3": VolumeLimits(
        gib=(1, 65536), iops=(GP3_IOPS, 80000), iops_for_each_gib=500, throughput=2000
    ),
    "io2": VolumeLimits(
        gib=(4, 65536), iops=(100, 256000), iops_for_each_gib=1000, throughput=4000
    ),
}


def ebs_throughput(instance: InstanceType) -> int:
    """Return what an instance always moves to and from all of its volumes, in MiB/s."""
    return int(instance.ebs_mbps * _MIB_FOR_MEGABITS)
