"""What writing checkpoints costs in time and money: on a cluster's own storage, and on others."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainshed.checkpoints.checkpoint import GB_PER_GIB, Checkpoint, checkpoint_of
from trainshed.checkpoints.storages import STORAGES, Clients, Lustre, Offer
from trainshed.plan import ClusterPlan
from trainshed.prices import PriceList

# What storage is looked for.
GOOD_LOSS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Checkpoints on one storage.

    Attributes:
        storage: what it is.
        size: what of it is chosen.
        mbps: MB/s that the nodes write to it, all together.
        seconds: that one checkpoint takes.
        lost: the part of all time in which accelerators wait for it.
        usd_per_month: of its storage, and of what is paid for by writing; None if unknown.
        unknown: names of the prices that are not known.
        replicated: data outlives a server.
        remark: what to know before it is taken.
    """

    storage: str
    size: str
    mbps: float
    seconds: float
    lost: float
    usd_per_month: float | None
    unknown: tuple[str, ...]
    replicated: bool
    remark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What `trainshed explain` says of the checkpoints of a training.

    Attributes:
        checkpoint: how large one is, and how often one is written.
        background_mbps: MB/s that write one in the background before the next.
        own: the cluster's own file system; None without one, or where it is there already.
        own_rest_gb: its room beside the data set, in GB; negative when that does not fit.
        others: each kind of storage, as small as it can be to lose little enough.
        cheapest: of those whose data outlives a server, that lose little enough and whose price
            is known, the one that costs least.
    """

    checkpoint: Checkpoint
    background_mbps: float
    own: Written | None
    own_rest_gb: float | None
    others: tuple[Written, ...]
    cheapest: Written | None


def advise(plan: ClusterPlan, prices: PriceList) -> Advice | None:
    """Compare the storages for the checkpoints of a cluster's training; None without `training`.

    Args:
        plan: the cluster, of which all nodes take part.
        prices: those of its region.
    """
    if not plan.training:
        return None
    checkpoint = checkpoint_of(plan.training)
    clients = clients_of(plan)
    own = own_offer(plan)
    offers = (each.smallest(checkpoint, clients, GOOD_LOSS) for each in STORAGES)
    others = tuple(written(checkpoint, offer, prices) for offer in offers if offer)
    return Advice(
        checkpoint=checkpoint,
        background_mbps=checkpoint.background_mbps,
        own=written(checkpoint, own, prices) if own else None,
        own_rest_gb=own.gib * GB_PER_GIB - checkpoint.dataset_gb if own and own.gib else None,
        others=others,
        cheapest=_cheapest(others),
    )


def clients_of(plan: ClusterPlan) -> Clients:
    """Return the nodes of the largest job."""
    return Clients(
        nodes=plan.nodes.max,
        gbps=plan.instance.network_gbps,
        lustre_efa=plan.lustre_efa_interfaces > 0,
    )


def own_offer(plan: ClusterPlan) -> Offer | None:
    """Return the file system that the cluster makes, if it makes one."""
    if not plan.lustre or not plan.lustre.new:
        return None
    new = plan.lustre.new
    kind = Lustre(deployment=new.deployment, throughput=new.throughput)
    return kind.sized(new.capacity_gib, clients_of(plan))


def written(checkpoint: Checkpoint, offer: Offer, prices: PriceList) -> Written:
    """Return what checkpoints take on an offer, at the prices of a region."""
    known = {item: price for item in offer.units if (price := prices.price(item))}
    unknown = tuple(item for item in offer.units if item not in known)
    usd = sum(units * known[item].usd for item, units in offer.units.items() if item in known)
    return Written(
        storage=offer.storage,
        size=offer.size,
        mbps=offer.mbps,
        seconds=checkpoint.seconds(offer.mbps),
        lost=checkpoint.lost(offer.mbps),
        usd_per_month=None if unknown else usd,
        unknown=unknown,
        replicated=offer.replicated,
        remark=offer.remark,
    )


def _cheapest(others: Iterable[Written]) -> Written | None:
    good = (each for each in others if each.replicated and each.lost <= GOOD_LOSS)
    priced = {each.usd_per_month: each for each in good if each.usd_per_month is not None}
    return priced[min(priced)] if priced else None
