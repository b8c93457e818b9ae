"""Channels in SSM's Parameter Store, whose versions are the history of what was published."""

from dataclasses import dataclass
from datetime import datetime
from time import monotonic, sleep

from trainshed.ami.channel import CHANNELS_ROOT, Channel
from trainshed.aws import AwsRefusal, Region, accepting
from trainshed.errors import Failure

_DATA_TYPE = "aws:ec2:image"
_VALIDATION_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelVersion:
    """What a channel held at one time.

    Attributes:
        version: SSM's number, from 1.
        image_id: the AMI.
        note: how it came there: the parameter's description.
        written: when.
    """

    version: int
    image_id: str
    note: str
    written: datetime


def channels(region: Region) -> dict[Channel, str]:
    """Return the AMI id by channel, for every channel that the region has."""
    found = region.pages(
        "ssm", "get_parameters_by_path", "Parameters", Path=CHANNELS_ROOT, Recursive=True
    )
    held = ((Channel.of_parameter(entry["Name"]), entry["Value"]) for entry in found)
    return {channel: image_id for channel, image_id in held if channel is not None}


def history(region: Region, channel: Channel) -> list[ChannelVersion]:
    """Return the history that SSM has of a channel, oldest first; nothing when there is no channel.

    SSM keeps the newest 100 versions of a parameter.
    https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-versions.html
    """
    found = region.pages("ssm", "get_parameter_history", "Parameters", Name=channel.parameter)
    versions: list[ChannelVersion] = []
    with accepting("ParameterNotFound"):
        versions += (
            ChannelVersion(
                version=entry["Version"],
                image_id=entry["Value"],
                note=entry.get("Description", ""),
                written=entry["LastModifiedDate"],
            )
            for entry in found
        )
    return sorted(versions, key=lambda version: version.version)


def write(region: Region, channel: Channel, image_id: str, note: str) -> int:
    """Make a channel point to an AMI, and return the new version of its parameter.

    SSM validates the value after it has answered, and forgets what it finds wrong; so this waits
    until the channel holds the AMI.
    https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-ec2-aliases.html

    Args:
        region: the AMI's.
        channel: which.
        image_id: the AMI.
        note: how it came there.

    Raises:
        Failure: SSM did not take it.
    """
    try:
        region.call(
            "ssm",
            "put_parameter",
            Name=channel.parameter,
            Value=image_id,
            Description=note,
            Type="String",
            DataType=_DATA_TYPE,
            Overwrite=True,
        )
    except AwsRefusal as error:
        if error.code in ("ValidationException", "HierarchyTypeMismatch"):
            raise Failure(
                f"{error}; a parameter made with another data type than {_DATA_TYPE} must be "
                f"deleted first: aws ssm delete-parameter --name {channel.parameter} "
                f"--region {region.name}"
            ) from error
        raise
    deadline = monotonic() + _VALIDATION_SECONDS
    while True:
        held = history(region, channel)
        if held and held[-1].image_id == image_id:
            return held[-1].version
        if monotonic() > deadline:
            raise Failure(
                f"SSM did not take {image_id} for {channel.parameter} in {region.name} within "
                f"{_VALIDATION_SECONDS} s: the caller needs ec2:DescribeImages, and the AMI has "
                "to be available there; then repeat the command"
            )
        sleep(1)
