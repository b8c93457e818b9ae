"""The AMIs of a region, each with the channels that point to it and what uses it."""

from dataclasses import dataclass

from trainshed.ami.ami import own_amis
from trainshed.ami.channel_store import channels
from trainshed.ami.usage import usage
from trainshed.aws import AwsRefusal, Region


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One AMI.

    Attributes:
        image_id: for instance `ami-0123456789abcdef0`.
        region: where.
        name: the AMI's name.
        cell: for instance `neuron/ecs`.
        base: for instance `amazon-linux-2023`.
        build: UTC stamp of its build.
        commit: of the template; `-dirty` when that was changed.
        state: `pending`, `available`, `failed` and so on.
        channels: names of the channels that point to it.
        in_use_by: instances, launch templates and so on.
    """

    image_id: str
    region: str
    name: str
    cell: str
    base: str
    build: str
    commit: str
    state: str
    channels: tuple[str, ...]
    in_use_by: tuple[str, ...]


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
            image_id=ami.image_id,
            region=region.name,
            name=ami.name,
            cell=ami.cell,
            base=ami.tag("base"),
            build=ami.build,
            commit=ami.tag("commit"),
            state=ami.state,
            channels=tuple(
                str(channel) for channel, held in pointing.items() if held == ami.image_id
            ),
            in_use_by=tuple(used.users.get(ami.image_id, ())),
        )
        for ami in amis
    )
    return Listing(rows=rows, blind=tuple(blind))
