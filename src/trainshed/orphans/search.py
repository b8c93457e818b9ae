"""Search an account for what trainshed made and nothing owns any more."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from trainshed.account.billed import Billed, unprotect_eks_cluster
from trainshed.account.deployed_stacks import DeployedStack
from trainshed.aws import Region
from trainshed.cost import HOURS_PER_MONTH, CostRow
from trainshed.errors import Failure
from trainshed.orphans.amis import AMI_LOOKS
from trainshed.orphans.control_planes import CONTROL_PLANE_LOOKS
from trainshed.orphans.instances import INSTANCE_LOOKS
from trainshed.orphans.keys import KEY_LOOKS
from trainshed.orphans.model import Candidate, Orphan, OrphanSearch, SearchedRegion, Unseen
from trainshed.orphans.networks import NETWORK_LOOKS
from trainshed.orphans.ownership import Ownership
from trainshed.orphans.pipelines import PIPELINE_LOOKS
from trainshed.orphans.records import RECORD_LOOKS
from trainshed.orphans.reservations import RESERVATION_LOOKS
from trainshed.orphans.storage import STORAGE_LOOKS
from trainshed.orphans.unused_stacks import REPOSITORY
from trainshed.plan import ClusterPlan
from trainshed.prices import PriceList

# In the order in which what they find can be deleted.
LOOKS: tuple[OrphanSearch, ...] = (
    *INSTANCE_LOOKS,
    *AMI_LOOKS,
    *RESERVATION_LOOKS,
    *STORAGE_LOOKS,
    *PIPELINE_LOOKS,
    *RECORD_LOOKS,
    *CONTROL_PLANE_LOOKS,
    *KEY_LOOKS,
    *NETWORK_LOOKS,
)


def find_orphans(
    region: Region, clusters: Sequence[ClusterPlan], prices: PriceList, *, now: datetime
) -> tuple[list[Orphan], list[Unseen]]:
    """Return what nothing owns, and what could not be looked at.

    What a cluster file names as existing is in use. Stacks that no cluster uses are listed with
    what in them is billed.

    Args:
        region: where.
        clusters: what the cluster files plan.
        prices: of the region.
        now: the present, in UTC.

    Raises:
        AwsRefusal: the stacks cannot be listed, so that nothing can be told.
    """
    place = SearchedRegion(
        region=region,
        account=region.call("sts", "get_caller_identity")["Account"],
        ownership=Ownership(region),
        clusters=tuple(each for each in clusters if each.region == region.name),
        now=now,
    )
    used = {*_named(place.clusters)}
    orphans, unseen, seen = list[Orphan](), list[Unseen](), set[tuple[str, str]]()
    blind = set[str]()
    inside: dict[str, list[Billed]] = defaultdict(list)
    for look in LOOKS:
        try:
            for each in look.find(place):
                name = each.billed.name
                if (each.billed.what, name) in seen:
                    continue
                seen.add((each.billed.what, name))
                owner = place.ownership.owner(look.types, name, each.also_called)
                if owner and owner.name in place.ownership.unused:
                    inside[owner.name].append(each.billed)
                elif not owner and used.isdisjoint((kind, name) for kind in look.types):
                    orphans.append(_orphan(each, prices))
        except Failure as error:
            unseen.append(Unseen(at=look.at, why=str(error)))
            blind.update(look.types)
    stacks = [
        _stack(place.ownership.stack(name), why, inside[name], prices, blind)
        for name, why in place.ownership.unused.items()
    ]
    # A network goes after what is in it.
    return [*orphans, *stacks], unseen


def _named(clusters: Collection[ClusterPlan]) -> Iterator[tuple[str, str]]:
    """Yield the types and names of what cluster files name that exists."""
    for cluster in clusters:
        for storage in cluster.storages:
            if storage.existing:
                yield storage.resource_type, storage.existing
        if cluster.repository and cluster.repository.existing:
            yield REPOSITORY, cluster.repository.name


def _stack(
    stack: DeployedStack,
    why: str,
    inside: Sequence[Billed],
    prices: PriceList,
    blind: Collection[str],
) -> Orphan:
    """Return a stack with the price of what is in it; not known where that may be more.

    Args:
        stack: that is not used.
        why: it is not.
        inside: what was found in it.
        prices: of the region.
        blind: types that could not be looked at.
    """
    steps = [unprotect_eks_cluster(each) for each in stack.ids("AWS::EKS::Cluster")]
    if stack.protected:
        steps.append(
            "aws cloudformation update-termination-protection --no-enable-termination-protection "
            f"--stack-name {stack.name}"
        )
    steps.append(f"aws cloudformation delete-stack --stack-name {stack.name}")
    priced = [(each.what, _per_month(each, prices)) for each in inside]
    kinds = Counter(what for what, usd in priced if usd != 0)
    known = [usd for _, usd in priced if usd is not None]
    whole = len(known) == len(priced) and not stack.ids(*blind)
    return Orphan(
        billed=Billed(
            what="stack",
            name=stack.name,
            size=", ".join(f"{number} {kind}" for kind, number in kinds.items()),
            since=stack.changed_at,
            charges=(),
            command=" && ".join(steps),
        ),
        why=why,
        kept=False,
        usd_per_month=sum(known) if whole else None,
    )


def _orphan(found: Candidate, prices: PriceList) -> Orphan:
    return Orphan(
        billed=found.billed,
        why=found.why,
        kept=found.kept,
        usd_per_month=_per_month(found.billed, prices),
    )


def _per_month(billed: Billed, prices: PriceList) -> float | None:
    """Return what a resource costs in a month; None where that is not known."""
    if billed.charges is None:
        return None
    hourly = [
        CostRow(
            component=billed.what, item=item, price=prices.price(item), idle=units
        ).idle_usd_per_hour
        for item, units in billed.charges
    ]
    known = [each for each in hourly if each is not None]
    return sum(known) * HOURS_PER_MONTH if len(known) == len(hourly) else None
