"""The volumes of a launch: the AMI's mappings, overridden by those of the request.

EC2 user guide, block device mappings: the request's mapping of a device overrides the AMI's,
attribute by attribute; a volume is at least as large as its snapshot. moto takes the request's
only.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Refusal


def joined_mappings(ami: Any, asked: list[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the mappings of a launch, or None where moto's own choice is right.

    Args:
        ami: moto's AMI, or None for an unknown one.
        asked: the mappings of the request.

    Raises:
        Refusal: a volume is smaller than its snapshot.
    """
    own = getattr(ami, "embedded_aws_mappings", None)
    if own is None:
        return None
    joined = {each["DeviceName"]: {**each, "Ebs": dict(each["Ebs"])} for each in own}
    for mapping in asked:
        device = mapping["DeviceName"]
        before = joined.get(device, {})
        least = before.get("Ebs", {}).get("VolumeSize", 0)
        size = mapping.get("Ebs", {}).get("VolumeSize", least)
        if size < least:
            raise Refusal(
                "InvalidBlockDeviceMapping",
                f"Volume of size {size}GB is smaller than snapshot "
                f"'{before['Ebs']['SnapshotId']}', expect size >= {least}GB",
            )
        ebs = {**before.get("Ebs", {}), **mapping.get("Ebs", {})}
        joined[device] = {**before, **mapping, **({"Ebs": ebs} if ebs else {})}
    return list(joined.values())


def complete_volumes(ec2: Any, instance: Any, mappings: list[dict[str, Any]]) -> None:
    """Set the performance of an instance's volumes, which moto ignores."""
    wanted = {each["DeviceName"]: each.get("Ebs", {}) for each in mappings}
    for device, block in instance.get_block_device_mapping:
        volume = ec2.get_volume(block.volume_id)
        volume.iops = wanted.get(device, {}).get("Iops")
        volume.throughput = wanted.get(device, {}).get("Throughput")
