"""What stays when a cluster's stacks are deleted, and whether it still costs."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed.aws import Region, accepting
from trainshed.plan import RepositoryPlan

_GIB = 2**30
# Construct id of a log group that is kept: CloudFormation names it STACK-LOGICALID-random.
FLOW_LOGS = "NetworkFlowLog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One resource that stays.

    Attributes:
        what: its kind, for instance `file system`.
        name: its id or name.
        size: what it holds.
        cost: what it still costs; no prices, which depend on region and date.
        why: why it stays, and what to do about it.
    """

    what: str
    name: str
    size: str
    cost: str
    why: str


def kept_repositories(region: Region, repository: RepositoryPlan) -> Iterator[Kept]:
    """Name a repository if it is there, and those of its cache of public images."""
    for each in region.pages("ecr", "describe_repositories", "repositories"):
        name = each["repositoryName"]
        cached = name.startswith(f"{repository.cache_prefix}/")
        if name != repository.name and not cached:
            continue
        again = "" if cached else "use it again with image.existing: true, or "
        yield Kept(
            what="cached images" if cached else "repository",
            name=name,
            size=_images(region, name),
            cost="bills by the GiB and month",
            why=f"{again}delete it: aws ecr delete-repository --force --repository-name {name}",
        )


def kept_logs(region: Region, prefix: str, content: str) -> Iterator[Kept]:
    """Name the log groups that stacks left, each creation of a stack one of its own.

    Args:
        region: where.
        prefix: what their names begin with.
        content: what they hold.
    """
    for each in region.pages("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=prefix):
        name = each["logGroupName"]
        days = each.get("retentionInDays")
        how_long = f"each line kept for {days} days" if days else "kept for good"
        yield Kept(
            what="log group",
            name=name,
            size=f"{each.get('storedBytes', 0) / _GIB:.1f} GiB",
            cost="bills by the GiB and month",
            why=f"{content}, {how_long}; or delete it: "
            f"aws logs delete-log-group --log-group-name {name}",
        )


def _images(region: Region, repository: str) -> str:
    found = region.pages("ecr", "describe_images", "imageDetails", repositoryName=repository)
    with accepting("RepositoryNotFoundException"):
        sizes = [each.get("imageSizeInBytes", 0) for each in found]
        images = "image" if len(sizes) == 1 else "images"
        return f"{len(sizes)} {images}, {sum(sizes) / _GIB:.1f} GiB"
    return "gone meanwhile"
