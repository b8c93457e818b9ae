"""What writing checkpoints costs in time and money: on a cluster's own storage, and on others."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trainshed.checkpoints.checkpoint import Checkpoint, checkpoint_of
from trainshed.checkpoints.own import (
    UnknownSpeed,
    clients_of,
    own_offers,
    scratch_offer,
    unknown_speeds,
)
from trainshed.checkpoints.storages import STORAGES, Offer, Storage
from trainshed.plan import ClusterPlan
from trainshed.prices import PriceList

# What storage is looked for.
GOOD_LOSS = 0.02
# What parts of the time are lost by sizes from small to large.
_LOSSES = (0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03, GOOD_LOSS, 0.01)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCheckpoint:
    """Checkpoints on one storage.

    Attributes:
        storage: what it is.
        size: what of it is chosen.
        gib: its room; None where it has as much as is used.
        mbps: MB/s that the nodes write to it, all together.
        seconds: that one checkpoint takes.
        lost: the part of all time in which accelerators wait for it.
        usd_per_month: of its storage, and of what is paid for by writing; None if unknown, or if
            it is paid for with the nodes.
        unknown: names of the prices that are not known.
        replicated: data outlives a server.
        remark: what to know before it is taken.
    """

    storage: str
    size: str
    gib: int | None
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
        mbps: MB/s that lose no more than `GOOD_LOSS`.
        own: the file systems that the cluster makes, the fastest first.
        scratch: the EBS volumes of its nodes; None where they have none.
        unknown: its storages of which nobody knows here how fast they are.
        others: each kind of storage, as small as it can be to lose little enough.
        sizes: of each kind of storage, from those that lose much to those that lose little.
        cheapest: of the others that lose little enough, whose data outlives a server, and whose
            price is known, the one that costs least.
    """

    checkpoint: Checkpoint
    background_mbps: float
    mbps: float
    own: tuple[WrittenCheckpoint, ...]
    scratch: WrittenCheckpoint | None
    unknown: tuple[UnknownSpeed, ...]
    others: tuple[WrittenCheckpoint, ...]
    sizes: tuple[tuple[WrittenCheckpoint, ...], ...]
    cheapest: WrittenCheckpoint | None

    @property
    def has_prices(self) -> bool:
        """The price of at least one size of a storage is known."""
        return not all(each.unknown for sizes in self.sizes for each in sizes)


def advise(plan: ClusterPlan, prices_of: Callable[[str], PriceList]) -> Advice | None:
    """Compare the storages for the checkpoints of a cluster's training; None without `training`.

    Args:
        plan: the cluster, of which all nodes take part.
        prices_of: gives those of a region.
    """
    if not plan.training:
        return None
    prices = prices_of(plan.region)
    checkpoint = checkpoint_of(plan.training)
    clients = clients_of(plan)

    def smallest(storage: Storage, lost: float) -> WrittenCheckpoint | None:
        offer = storage.smallest(checkpoint, clients, lost)
        return written(checkpoint, offer, prices) if offer else None

    scratch = scratch_offer(plan, checkpoint)
    others = tuple(found for each in STORAGES if (found := smallest(each, GOOD_LOSS)))
    sizes = [[smallest(each, lost) for lost in _LOSSES] for each in STORAGES]
    return Advice(
        checkpoint=checkpoint,
        background_mbps=checkpoint.background_mbps,
        mbps=checkpoint.mbps_for(GOOD_LOSS),
        own=tuple(written(checkpoint, offer, prices) for offer in own_offers(plan, checkpoint)),
        scratch=written(checkpoint, scratch, prices) if scratch else None,
        unknown=tuple(unknown_speeds(plan)),
        others=others,
        # Several losses may have the same size.
        sizes=tuple(tuple(dict.fromkeys(filter(None, each))) for each in sizes),
        cheapest=_cheapest(others),
    )


def written(checkpoint: Checkpoint, offer: Offer, prices: PriceList) -> WrittenCheckpoint:
    """Return what checkpoints take on an offer, at the prices of a region."""
    known = {item: price for item in offer.units if (price := prices.price(item))}
    unknown = tuple(item for item in offer.units if item not in known)
    usd = sum(units * known[item].usd for item, units in offer.units.items() if item in known)
    return WrittenCheckpoint(
        storage=offer.storage,
        size=offer.size,
        gib=offer.gib,
        mbps=offer.mbps,
        seconds=checkpoint.seconds(offer.mbps),
        lost=checkpoint.lost(offer.mbps),
        usd_per_month=None if unknown or not offer.units else usd,
        unknown=unknown,
        replicated=offer.replicated,
        remark=offer.remark,
    )


def _cheapest(others: Iterable[WrittenCheckpoint]) -> WrittenCheckpoint | None:
    good = (each for each in others if each.replicated and each.lost <= GOOD_LOSS)
    priced = {each.usd_per_month: each for each in good if each.usd_per_month is not None}
    return priced[min(priced)] if priced else None
