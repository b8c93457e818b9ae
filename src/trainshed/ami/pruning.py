"""Which AMIs may be removed: those not used, not in the history of a channel, and not shared."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from trainshed.ami.ami import BUILD_TAG, Ami, cell_of, own_amis
from trainshed.ami.channel_store import channels, history
from trainshed.ami.usage import usage
from trainshed.aws import AwsRefusal, Region, accepting

_YOUNG = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether an AMI, or a snapshot that an AMI has left, is removed.

    Attributes:
        region: where.
        name: id of the AMI or of the snapshot.
        cell: for instance `neuron/ecs`.
        build: stamp of its build.
        reasons: why it stays.
        unseen: what could not be looked at, which keeps it, too.
        snapshots: what goes with it.
    """

    region: str
    name: str
    cell: str
    build: str
    reasons: tuple[str, ...]
    unseen: tuple[str, ...]
    snapshots: tuple[str, ...]

    @property
    def goes(self) -> bool:
        """Whether it may go."""
        return not self.reasons and not self.unseen


def judge(region: Region, *, keep: int, now: datetime) -> list[Verdict]:
    """Judge each of our AMIs in a region, and each of our snapshots without an AMI.

    What could not be looked at keeps them all.

    Args:
        region: where.
        keep: the newest different AMIs of each channel's history that stay; at least 1.
        now: the present, in UTC.
    """
    amis = own_amis(region)
    remembered, blind = _remembered(region, keep)
    used = usage(region)
    blind = (*blind, *used.blind)
    verdicts = []
    for ami in amis:
        # Where others may use it we need not ask when it stays anyway.
        shared, unseen = ((), blind) if blind else _shared(region, ami)
        reasons = (
            *used.users.get(ami.image_id, ()),
            *remembered.get(ami.image_id, ()),
            *_own_reasons(ami, now),
            *shared,
        )
        verdicts.append(
            Verdict(
                region=region.name,
                name=ami.image_id,
                cell=ami.cell,
                build=ami.build,
                reasons=reasons,
                unseen=unseen,
                snapshots=ami.snapshots,
            )
        )
    return verdicts + _orphans(region, amis, now)


def remove(region: Region, verdict: Verdict) -> list[str]:
    """Deregister an AMI and delete its snapshots; return what stayed, and why.

    A snapshot that stays has lost its AMI: the next `prune` finds it.

    Raises:
        AwsRefusal: the AMI could not be deregistered, and nothing has changed.
    """
    if verdict.name.startswith("ami-"):
        region.call("ec2", "deregister_image", ImageId=verdict.name)
    left = []
    for snapshot in verdict.snapshots:
        try:
            with accepting("InvalidSnapshot.NotFound"):
                region.call("ec2", "delete_snapshot", SnapshotId=snapshot)
        except AwsRefusal as error:
            left.append(f"{snapshot} stays: {error}")
    return left


def _remembered(region: Region, keep: int) -> tuple[Mapping[str, list[str]], tuple[str, ...]]:
    """Return what channels remember, by AMI id, and why they could not be asked."""
    found: dict[str, list[str]] = defaultdict(list)
    try:
        for channel in channels(region):
            newest = list(dict.fromkeys(v.image_id for v in reversed(history(region, channel))))
            for age, image_id in enumerate(newest[:keep]):
                found[image_id].append(f"{channel}" if age == 0 else f"{channel}, {age} back")
    except AwsRefusal as error:
        return found, (str(error),)
    return found, ()


def _own_reasons(ami: Ami, now: datetime) -> Iterable[str]:
    if now - ami.created < _YOUNG:
        yield "younger than a day"
    if ami.state == "pending":
        yield "still being made"
    if ami.protected:
        yield "protected from being deregistered"


def _shared(region: Region, ami: Ami) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return with whom an AMI is shared, and why that could not be asked."""
    if ami.public:
        return ("shared with every account, so its users cannot be listed",), ()
    try:
        answer = region.call(
            "ec2", "describe_image_attribute", ImageId=ami.image_id, Attribute="launchPermission"
        )
    except AwsRefusal as error:
        return (), (str(error),)
    others = [str(next(iter(entry.values()))) for entry in answer.get("LaunchPermissions", [])]
    # Where they may use it we cannot look.
    return (f"shared with {', '.join(others)}, where we cannot look",) if others else (), ()


def _orphans(region: Region, amis: list[Ami], now: datetime) -> list[Verdict]:
    """Snapshots whose AMI was deregistered when something stopped the rest."""
    kept = {snapshot for ami in amis for snapshot in ami.snapshots}
    found = region.pages(
        "ec2",
        "describe_snapshots",
        "Snapshots",
        OwnerIds=["self"],
        Filters=[{"Name": "tag-key", "Values": [BUILD_TAG]}],
    )
    verdicts = []
    for entry in found:
        if entry["SnapshotId"] in kept or now - entry["StartTime"].astimezone(UTC) < _YOUNG:
            continue
        tags = {tag["Key"]: tag["Value"] for tag in entry.get("Tags", [])}
        verdicts.append(
            Verdict(
                region=region.name,
                name=entry["SnapshotId"],
                cell=cell_of(tags),
                build=tags[BUILD_TAG],
                reasons=(),
                unseen=(),
                snapshots=(entry["SnapshotId"],),
            )
        )
    return verdicts
