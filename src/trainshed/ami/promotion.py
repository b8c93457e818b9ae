"""Promotion: the AMIs that one channel would take over from another."""

from collections.abc import Callable, Iterable

from trainshed.ami.ami import Ami
from trainshed.ami.channel import Channel
from trainshed.ami.channel_store import history
from trainshed.ami.publishing import await_ami, check_same_build
from trainshed.aws import Region
from trainshed.errors import Failure


def plan_promotion(
    regions: Iterable[Region], source: Channel, *, show: Callable[[str], None]
) -> dict[Region, Ami]:
    """Return the AMI that a channel points to in each region; of one build in all of them.

    Args:
        regions: where.
        source: the channel to take from.
        show: gets what is waited for.

    Raises:
        Failure: a region does not have the channel.
        Failure: it points to an AMI of another cell, to none, or to different builds.
    """
    targets = {}
    for region in regions:
        past = history(region, source)
        if not past:
            raise Failure(f"{source} does not exist in {region.name}; publish to it first")
        found = await_ami(region, past[-1].image_id, show=show)
        if found.cell != source.cell:
            raise Failure(
                f"{source} in {region.name} is {found.image_id}, an AMI of {found.cell}; "
                "publish one of its own cell to it"
            )
        targets[region] = found
    check_same_build(list(targets.values()))
    return targets
