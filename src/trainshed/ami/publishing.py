"""Publishing an AMI: seen to be there, to be ours and of the right cell, then written down."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import monotonic, sleep

from trainshed.ami.account import Region
from trainshed.ami.channel import Channel
from trainshed.ami.channel_store import ChannelError, history, write
from trainshed.ami.image import BUILD_TAG, Image, ImageError, find_image
from trainshed.errors import TrainshedError

_PATIENCE_SECONDS = 3600
_PAUSES_SECONDS = (1, 2, 4, 8, 15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What was done to a channel in one region.

    Attributes:
        region: where.
        channel: for instance `neuron/ecs stable`.
        image_id: what it points to now.
        version: of the SSM parameter.
        previous: what it pointed to before; empty when it is new.
        action: `written`, or `already there`.
        build: stamp of the AMI's build.
    """

    region: str
    channel: str
    image_id: str
    version: int
    previous: str
    action: str
    build: str


def await_image(region: Region, image_id: str, *, tell: Callable[[str], None]) -> Image:
    """Return an AMI of ours once it is available.

    Args:
        region: where it is.
        image_id: which.
        tell: is told what is waited for.

    Raises:
        ImageError: it is not in the account, no build of ours made it, or it failed.
    """
    deadline = monotonic() + _PATIENCE_SECONDS
    pauses = iter(_PAUSES_SECONDS)
    while True:
        image = find_image(region, image_id)
        if image is None:
            raise ImageError(
                f"{image_id} is not an AMI of this account in {region.name}; see "
                f"trainshed ami list --region {region.name}"
            )
        if not image.build:
            raise ImageError(
                f"{image_id} in {region.name} has no tag {BUILD_TAG}: trainshed ami build did not "
                "make it, so it goes to no channel"
            )
        if image.state == "available":
            return image
        if image.state != "pending":
            raise ImageError(
                f"{image_id} in {region.name} is {image.state}"
                + (f" ({image.reason})" if image.reason else "")
                + "; bake it again"
            )
        if monotonic() > deadline:
            raise ImageError(
                f"{image_id} in {region.name} is still pending after "
                f"{_PATIENCE_SECONDS // 60} minutes; repeat the command later"
            )
        tell(f"waiting for {image_id} in {region.name}")
        sleep(next(pauses, _PAUSES_SECONDS[-1]))


def check_same_build(images: list[Image]) -> None:
    """Refuse AMIs of several builds, or of several cells, under one channel.

    Raises:
        ImageError: with each region's build.
    """
    if len({(image.build, image.cell) for image in images}) > 1:
        told = ", ".join(f"{i.region}: {i.image_id} ({i.cell}, build {i.build})" for i in images)
        raise ImageError(
            f"these regions have AMIs of different builds: {told}; name regions with --region"
        )


def write_channel(targets: Mapping[Region, Image], name: str, note: str) -> Iterator[Written]:
    """Make a channel point to an AMI in each region, and yield each as soon as it is done.

    Where the channel does already, it stays as it is: what stopped half-way can be repeated.

    Args:
        targets: the AMI of each region; all of one cell.
        name: of the channel.
        note: how the AMI came there.

    Raises:
        ChannelError: a region failed; the message says which ones are not done.
        TrainshedError: a name that no channel can have; nothing was written.
    """
    waiting = [
        (region, image, Channel(cell=image.cell, name=name)) for region, image in targets.items()
    ]
    while waiting:
        region, image, channel = waiting[0]
        try:
            written = _write_once(region, image, channel, note)
        except TrainshedError as error:
            left = ", ".join(other.name for other, _, _ in waiting)
            raise ChannelError(f"{error}; not done: {left}; repeat the command for them") from error
        yield written
        del waiting[0]


def _write_once(region: Region, image: Image, channel: Channel, note: str) -> Written:
    past = history(region, channel)
    current = past[-1] if past else None
    done = current is not None and current.image_id == image.image_id
    version = current.version if current and done else write(region, channel, image.image_id, note)
    return Written(
        region=region.name,
        channel=str(channel),
        image_id=image.image_id,
        version=version,
        previous=current.image_id if current else "",
        action="already there" if done else "written",
        build=image.build,
    )
