"""What EC2 refuses of a new volume.

EC2 API reference, `EbsBlockDevice` (2026): sizes, IOPS and throughput by type. EBS user guide,
"General Purpose SSD volumes" and "Provisioned IOPS SSD volumes": the ratios. From memory: the
messages.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from embedded_aws.ec2.refusals import invalid_combination, invalid_value, missing_parameter


class _Limits(NamedTuple):
    gib: tuple[int, int]
    iops: tuple[int, int]
    iops_for_each_gib: int


_LIMITS: Mapping[str, _Limits] = {
    "gp3": _Limits(gib=(1, 65536), iops=(3000, 80000), iops_for_each_gib=500),
    "io1": _Limits(gib=(4, 16384), iops=(100, 64000), iops_for_each_gib=50),
    "io2": _Limits(gib=(4, 65536), iops=(100, 256000), iops_for_each_gib=1000),
}
# Of gp3, in MiB/s, and for each IOPS.
_THROUGHPUT = (125, 2000)
_MIB_FOR_EACH_IOPS = 0.25


def check_volume(ebs: Mapping[str, Any]) -> None:
    """Refuse a volume that EBS does not make.

    Args:
        ebs: the volume, as `EbsBlockDevice`; without a type it is gp2.

    Raises:
        Refusal: its size, its IOPS or its throughput are not those of its type.
    """
    kind = ebs.get("VolumeType", "gp2")
    size, iops, throughput = (ebs.get(key) for key in ("VolumeSize", "Iops", "Throughput"))
    if throughput is not None and kind != "gp3":
        raise invalid_combination(f"The parameter throughput is not supported for {kind} volumes.")
    limits = _LIMITS.get(kind)
    if limits is None:
        return
    if kind != "gp3" and iops is None:
        raise missing_parameter("iops")
    if size is not None:
        _check_range(f"Volume of {size}GiB is", size, limits.gib, "GiB")
    if iops is not None:
        _check_range(f"Volume iops of {iops} is", iops, limits.iops)
        if size is not None and iops > max(limits.iops[0], size * limits.iops_for_each_gib):
            raise invalid_value(
                f"Iops to volume size ratio of {iops / size:f} is too high; maximum is "
                f"{limits.iops_for_each_gib}"
            )
    if throughput is not None:
        _check_range(f"Volume throughput of {throughput}MiB/s is", throughput, _THROUGHPUT, "MiB/s")
        ratio = throughput / (iops or limits.iops[0])
        if ratio > _MIB_FOR_EACH_IOPS:
            raise invalid_value(
                f"Throughput (MiB/s) to iops ratio of {ratio:f} is too high; maximum is "
                f"{_MIB_FOR_EACH_IOPS:f} MiB/s per iops"
            )


def _check_range(words: str, value: int, limits: tuple[int, int], unit: str = "") -> None:
    least, most = limits
    if value < least:
        raise invalid_value(f"{words} too small; minimum is {least}{unit}.")
    if value > most:
        raise invalid_value(f"{words} too large; maximum is {most}{unit}.")
