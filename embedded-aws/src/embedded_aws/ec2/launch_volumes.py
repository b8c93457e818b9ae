"""The volumes of a launch: the AMI's mappings, overridden by those of the request.

EC2 user guide, block device mappings: the request's mapping of a device overrides the AMI's,
attribute by attribute; a volume is at least as large as its snapshot. moto takes the request's
only.
"""

from collections.abc import Mapping
from typing import Any

from embedded_aws.actions import Refusal


def joined_mappings(ami: Any, asked: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the mappings of a launch; of an unknown AMI there are none but the request's.

    Args:
        ami: moto's AMI, or None for an unknown one.
        asked: the mappings of the request.

    Raises:
        Refusal: a volume is smaller than its snapshot.
    """
    own = getattr(ami, "embedded_aws_mappings", None)
    if own is None:
        return [dict(mapping) for mapping in asked]
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


def for_moto(mappings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mappings for moto, which refuses io2 at a launch: it does not read its IOPS."""
    return [
        {**each, "Ebs": {**each["Ebs"], "VolumeType": "gp3"}}
        if each.get("Ebs", {}).get("Iops")
        else each
        for each in mappings
    ]


def complete_volumes(ec2: Any, instance: Any, mappings: list[dict[str, Any]]) -> None:
    """Set the type and performance of an instance's volumes, which moto ignores or was not told."""
    wanted = {each["DeviceName"]: each.get("Ebs", {}) for each in mappings}
    for device, block in instance.get_block_device_mapping:
        volume = ec2.get_volume(block.volume_id)
        asked = wanted.get(device, {})
        volume.iops, volume.throughput = asked.get("Iops"), asked.get("Throughput")
        if asked.get("Iops"):
            volume.volume_type = asked.get("VolumeType", volume.volume_type)
