"""The AMIs of a region, each with the channels that point to it and what uses it."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainshed.ami.ami import own_amis
from trainshed.ami.channel_store import channels
from trainshed.ami.usage import usage
from trainshed.aws import AwsRefusal, Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The AMIs of a region.

    Attributes:
        records: one for each AMI, newest first, as commands print them.
        blind: what could not be looked at, and why.
    """

    records: tuple[Mapping[str, object], ...]
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
    records = tuple(
        {
            "image_id": ami.image_id,
            "region": ami.region,
            "name": ami.name,
            "cell": ami.cell,
            "base": ami.tag("base"),
            "build": ami.build,
            "commit": ami.tag("commit"),
            "state": ami.state,
            "channels": [str(each) for each, held in pointing.items() if held == ami.image_id],
            "in_use_by": used.users.get(ami.image_id, []),
        }
        for ami in amis
    )
    return Listing(records=records, blind=tuple(blind))
