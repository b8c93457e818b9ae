"""The AMIs of a region, each with the channels that point to it and what uses it."""

from dataclasses import dataclass

from trainshed.ami.ami import Ami, own_amis
from trainshed.ami.channel_store import channels
from trainshed.ami.usage import usage
from trainshed.aws import AwsRefusal, Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One AMI.

    Attributes:
        ami: the AMI.
        channels: names of the channels that point to it.
        in_use_by: instances, launch templates and so on.
    """

    ami: Ami
    channels: tuple[str, ...]
    in_use_by: tuple[str, ...]

    def record(self) -> dict[str, object]:
        """Return it as commands print it."""
        return {
            "image_id": self.ami.image_id,
            "region": self.ami.region,
            "name": self.ami.name,
            "cell": self.ami.cell,
            "base": self.ami.tag("base"),
            "build": self.ami.build,
            "commit": self.ami.tag("commit"),
            "state": self.ami.state,
            "channels": self.channels,
            "in_use_by": self.in_use_by,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The AMIs of a region.

    Attributes:
        rows: newest first.
        blind: what could not be looked at, and why.
    """

    rows: tuple[Row, ...]
    blind: tuple[str, ...]


def listing(region: Region) -> Listing:
    """Return every AMI that our builds made.

    Raises:
        AwsRefusal: AMIs cannot be listed; what else cannot be seen is in the answer.
    """
    amis, used = own_amis(region), usage(region)
    blind = list(used.blind)
    try:
        pointing = channels(region)
    except AwsRefusal as error:
        pointing = {}
        blind.append(str(error))
    rows = tuple(
        Row(
            ami=ami,
            channels=tuple(
                str(channel) for channel, held in pointing.items() if held == ami.image_id
            ),
            in_use_by=tuple(used.users.get(ami.image_id, ())),
        )
        for ami in amis
    )
    return Listing(rows=rows, blind=tuple(blind))
