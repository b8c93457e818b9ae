"""AMIs that nothing uses and no channel remembers, and snapshots that have lost their AMI."""

from collections.abc import Iterator

from trainshed.account.billed import GIB, Billed
from trainshed.ami.ami import build_moment
from trainshed.ami.pruning import Verdict, judge
from trainshed.errors import Failure
from trainshed.orphans.model import Candidate, OrphanSearch, SearchedRegion
from trainshed.prices import SNAPSHOT

# As `trainshed ami prune` does when it is not told otherwise.
KEPT_OF_EACH_CHANNEL = 3


def _amis(place: SearchedRegion) -> Iterator[Candidate]:
    verdicts = judge(place.region, keep=KEPT_OF_EACH_CHANNEL, now=place.now)
    named = {each.ami.asked for each in place.clusters}
    for each in verdicts:
        if each.goes and each.name not in named:
            yield Candidate(
                billed=_billed(place, each),
                why=f"a build of {each.cell} made it; trainshed ami prune removes all of these",
            )
    # Then every AMI stays.
    if unseen := {why for each in verdicts for why in each.unseen}:
        raise Failure("; ".join(sorted(unseen)))


def _billed(place: SearchedRegion, verdict: Verdict) -> Billed:
    """Return what is billed: the snapshots."""
    snapshots = [
        *place.region.pages(
            "ec2", "describe_snapshots", "Snapshots", SnapshotIds=list(verdict.snapshots)
        )
    ]
    # AWS re:Post, "How am I billed for my Amazon EBS snapshots?": for all blocks that were written,
    # for it is the first snapshot of its volume. EC2 does not say that of every snapshot.
    written = [each.get("FullSnapshotSizeInBytes") for each in snapshots]
    known = [size for size in written if size is not None]
    is_known = len(known) == len(snapshots)
    gib = sum(known) / GIB
    volumes = sum(each["VolumeSize"] for each in snapshots)
    deleted = [f"aws ec2 delete-snapshot --snapshot-id {each}" for each in verdict.snapshots]
    is_ami = verdict.name.startswith("ami-")
    deregistered = [f"aws ec2 deregister-image --image-id {verdict.name}"] if is_ami else []
    return Billed(
        what="AMI" if is_ami else "snapshot",
        name=verdict.name,
        size=f"snapshots of {gib:.1f} GiB"
        if is_known
        else f"snapshots of volumes of {volumes} GiB",
        since=build_moment(verdict.build),
        charges=((SNAPSHOT, gib),) if is_known else None,
        command=" && ".join([*deregistered, *deleted]),
    )


AMI_LOOKS = (
    OrphanSearch(
        at="AMIs and snapshots",
        types=(),
        actions=(
            "autoscaling:DescribeLaunchConfigurations",
            "batch:DescribeComputeEnvironments",
            "ec2:DescribeImageAttribute",
            "ec2:DescribeImages",
            "ec2:DescribeInstances",
            "ec2:DescribeLaunchTemplateVersions",
            "ec2:DescribeLaunchTemplates",
            "ec2:DescribeSnapshots",
            "ssm:GetParameter",
            "ssm:GetParameterHistory",
            "ssm:GetParametersByPath",
        ),
        find=_amis,
    ),
)
