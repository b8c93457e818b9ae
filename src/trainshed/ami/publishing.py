"""Publishing an AMI: check that it exists, is ours and is of the cell, then write the parameter."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from trainshed.ami.ami import BUILD_TAG, Ami, find_ami
from trainshed.ami.channel import Channel
from trainshed.ami.channel_store import history, write
from trainshed.ami.manifest import manifest_amis
from trainshed.aws import Region, regions
from trainshed.errors import Failure, TrainshedError

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
        base: distribution under the AMI.
        previous_base: under the one before; empty when it is gone, or the channel is new.
    """

    region: str
    channel: str
    image_id: str
    version: int
    previous: str
    action: str
    build: str
    base: str
    previous_base: str


def find_published(ami: str, named: list[str] | None) -> dict[Region, str]:
    """Return the id of the AMI to publish in each region.

    Args:
        ami: path of a build's manifest.json, or an AMI id.
        named: regions; by default those of the manifest, or the environment's one for an AMI id.

    Raises:
        TrainshedError: it is empty, there is no such manifest, or the build has no AMI in a region.
    """
    if not ami:
        raise TrainshedError(
            "the name of what to publish is empty: give a build's manifest.json or an AMI id"
        )
    if ami.startswith("ami-"):
        return {region: ami for region in regions(named)}
    built = manifest_amis(Path(ami))
    absent = [name for name in named or [] if name not in built]
    if absent:
        raise TrainshedError(
            f"the build has no AMI in {', '.join(absent)}, only in {', '.join(built)}; "
            "bake with the variable 'ami_regions=[...]'"
        )
    return {region: built[region.name] for region in regions(named or list(built))}


def await_ami(region: Region, image_id: str, *, show: Callable[[str], None]) -> Ami:
    """Return one of our AMIs once it is available.

    Args:
        region: where it is.
        image_id: which.
        show: gets what is waited for.

    Raises:
        Failure: it is not in the account, none of our builds made it, or it failed.
    """
    deadline = monotonic() + _PATIENCE_SECONDS
    pauses = iter(_PAUSES_SECONDS)
    while True:
        ami = find_ami(region, image_id)
        if ami is None:
            raise Failure(
                f"{image_id} is not an AMI of this account in {region.name}; see "
                f"trainshed ami list --region {region.name}"
            )
        if not ami.build:
            raise Failure(
                f"{image_id} in {region.name} has no tag {BUILD_TAG}: trainshed ami build did not "
                "make it, so it cannot be published"
            )
        if ami.state == "available":
            return ami
        if ami.state != "pending":
            raise Failure(
                f"{image_id} in {region.name} is {ami.state}"
                + (f" ({ami.reason})" if ami.reason else "")
                + "; bake it again"
            )
        if monotonic() > deadline:
            raise Failure(
                f"{image_id} in {region.name} is still pending after "
                f"{_PATIENCE_SECONDS // 60} minutes; repeat the command later"
            )
        show(f"waiting for {image_id} in {region.name}")
        sleep(next(pauses, _PAUSES_SECONDS[-1]))


def check_same_build(amis: list[Ami]) -> None:
    """Refuse AMIs of several builds, or of several cells, under one channel.

    Raises:
        Failure: with each region's build.
    """
    if len({(ami.build, ami.cell) for ami in amis}) > 1:
        builds = ", ".join(f"{i.region}: {i.image_id} ({i.cell}, build {i.build})" for i in amis)
        raise Failure(
            f"these regions have AMIs of different builds: {builds}; publish each by itself"
        )


def write_channel(targets: Mapping[Region, Ami], name: str, note: str) -> Iterator[Written]:
    """Make a channel point to an AMI in each region, and yield each as soon as it is done.

    Where the channel does already, it stays as it is: what stopped half-way can be repeated.

    Args:
        targets: the AMI of each region; all of one cell.
        name: of the channel.
        note: how the AMI came there.

    Raises:
        Failure: a region failed; the message says which ones are not done.
        TrainshedError: a name that no channel can have; nothing was written.
    """
    waiting = [(region, ami, Channel(cell=ami.cell, name=name)) for region, ami in targets.items()]
    while waiting:
        region, ami, channel = waiting[0]
        try:
            written = _write_once(region, ami, channel, note)
        except TrainshedError as error:
            left = ", ".join(other.name for other, _, _ in waiting)
            raise Failure(f"{error}; not done: {left}; repeat the command for them") from error
        yield written
        del waiting[0]


def _write_once(region: Region, ami: Ami, channel: Channel, note: str) -> Written:
    past = history(region, channel)
    current = past[-1] if past else None
    done = current is not None and current.image_id == ami.image_id
    previous = find_ami(region, current.image_id) if current else None
    version = current.version if current and done else write(region, channel, ami.image_id, note)
    return Written(
        region=region.name,
        channel=str(channel),
        image_id=ami.image_id,
        version=version,
        previous=current.image_id if current else "",
        action="already there" if done else "written",
        build=ami.build,
        base=ami.tag("base"),
        previous_base=previous.tag("base") if previous else "",
    )
