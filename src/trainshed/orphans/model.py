"""What is found in an account, and what could not be looked at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from trainshed.account.billed import Billed
from trainshed.aws import Region
from trainshed.orphans.ownership import Ownership
from trainshed.plan import ClusterPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One resource that trainshed made, by its tags or its name.

    Attributes:
        billed: the resource.
        why: what it is from.
        kept: somebody may want what is in it.
        also_called: its name in a stack, where it has another one there.
    """

    billed: Billed
    why: str
    kept: bool = False
    also_called: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedRegion:
    """Where to look.

    Attributes:
        region: the region.
        account: the account's id.
        ownership: which stacks there are, and what is theirs.
        clusters: what the cluster files plan in the region.
        now: the present, in UTC.
    """

    region: Region
    account: str
    ownership: Ownership
    clusters: tuple[ClusterPlan, ...]
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanSearch:
    """A look at what one service has.

    Attributes:
        at: what is looked at, for people.
        types: of what it finds, as CloudFormation calls them; none for what is in no stack.
        actions: of IAM, that it needs.
        find: yields what trainshed made; it raises where it cannot look.
    """

    at: str
    types: tuple[str, ...]
    actions: tuple[str, ...]
    find: Callable[[SearchedRegion], Iterator[Candidate]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """What could not be looked at, and why."""

    at: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """One resource that nothing owns.

    Attributes:
        billed: the resource.
        why: what it is from.
        kept: it was kept because data are in it; all else is waste.
        usd_per_month: its price; None where that is not known.
    """

    billed: Billed
    why: str
    kept: bool
    usd_per_month: float | None
