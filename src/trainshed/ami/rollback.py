"""Rolling a channel back: to what it held before, and again, further back."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trainshed.ami.ami import Ami, find_ami
from trainshed.ami.channel import Channel
from trainshed.ami.channel_store import ChannelVersion, history
from trainshed.aws import Region
from trainshed.errors import Failure

# The note of a version says what it repeats. A label of SSM's could, too, but labelled versions
# are never dropped, and the 101st version of a parameter whose oldest has a label is refused.
# https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-versions.html
_NOTE = re.compile(r"rolled back from version \d+ to version (\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback:
    """Where a channel goes back to.

    Attributes:
        ami: the AMI.
        note: for the new version of the channel; the next rollback reads it.
        skipped: AMIs that were passed over, each with the reason.
    """

    ami: Ami
    note: str
    skipped: tuple[str, ...]


def plan_rollback(region: Region, channel: Channel) -> Rollback:
    """Find the newest earlier AMI of a channel that differs from its current one and still is.

    A version that a rollback wrote counts as the one that it repeats: two rollbacks go two AMIs
    back, and do not swap the same two.

    Raises:
        Failure: there is no channel, or nothing to go back to.
    """
    past = history(region, channel)
    if not past:
        raise Failure(
            f"{channel} does not exist in {region.name}; publish to it first: "
            f"trainshed ami publish ... --channel {channel.name}"
        )
    current, skipped = past[-1], dict[str, str]()
    for version in earlier(past):
        if version.image_id in skipped:
            continue
        ami = find_ami(region, version.image_id)
        if ami is not None and ami.state == "available" and ami.cell == channel.cell:
            return Rollback(
                ami=ami,
                note=f"rolled back from version {current.version} to version {version.version}",
                skipped=tuple(f"{name} {why}" for name, why in skipped.items()),
            )
        skipped[version.image_id] = _objection(ami, channel)
    raise Failure(
        f"{channel} in {region.name} has nothing to go back to from {current.image_id}"
        + "".join(f"; {name} {why}" for name, why in skipped.items())
    )


def earlier(past: Sequence[ChannelVersion]) -> Iterator[ChannelVersion]:
    """Yield the versions to go back to, nearest first.

    Args:
        past: a channel's history, oldest first, not empty.
    """
    current, known = past[-1], {version.version: version for version in past}
    origin = current.version
    # A rollback's version may repeat one that was itself written by a rollback.
    while (repeated := _NOTE.fullmatch(known[origin].note)) and int(repeated[1]) in known:
        origin = int(repeated[1])
    for version in reversed(past):
        if version.version < origin and version.image_id != current.image_id:
            yield version


def _objection(ami: Ami | None, channel: Channel) -> str:
    if ami is None:
        return "no longer exists"
    if ami.state != "available":
        return f"is {ami.state}"
    return f"is not of {channel.cell}"
