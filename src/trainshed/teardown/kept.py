"""What stays when a cluster's stacks are deleted, and whether it still costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trainshed.account.billed import Billed, log_group_billed, repository_billed
from trainshed.aws import Region, accepting
from trainshed.plan import RepositoryPlan

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

    @classmethod
    def of(cls, billed: Billed, *, cost: str, why: str, what: str = "") -> Self:
        """Describe what stays and is billed.

        Args:
            billed: the resource.
            cost: as of `Kept`.
            why: as of `Kept`.
            what: its kind, where it is another word than usual.
        """
        return cls(what=what or billed.what, name=billed.name, size=billed.size, cost=cost, why=why)


def kept_repositories(region: Region, repository: RepositoryPlan) -> Iterator[Kept]:
    """Name a repository if it is there, and those of its cache of public images."""
    for each in region.pages("ecr", "describe_repositories", "repositories"):
        name = each["repositoryName"]
        cached = name.startswith(f"{repository.cache_prefix}/")
        if name != repository.name and not cached:
            continue
        again = "" if cached else "use it again with image.existing: true, or "
        # Gone meanwhile.
        with accepting("RepositoryNotFoundException"):
            billed = repository_billed(region, each)
            yield Kept.of(
                billed,
                what="cached images" if cached else "",
                cost="bills by the GiB and month",
                why=f"{again}delete it: {billed.command}",
            )


def kept_logs(region: Region, prefix: str, content: str) -> Iterator[Kept]:
    """Name the log groups that stacks left, each creation of a stack one of its own.

    Args:
        region: where.
        prefix: what their names begin with.
        content: what they hold.
    """
    for each in region.pages("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=prefix):
        billed = log_group_billed(each)
        days = each.get("retentionInDays")
        how_long = f"each line kept for {days} days" if days else "kept for good"
        yield Kept.of(
            billed,
            cost="bills by the GiB and month",
            why=f"{content}, {how_long}; or delete it: {billed.command}",
        )
