"""From which size on it saves money that a lifecycle rule moves an object."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from trainshed.catalogue.s3 import SMALLEST_MOVED_KIB, StorageClass
from trainshed.plan import ClusterPlan
from trainshed.plan.storage.bucket_lifecycle import Move, moves_of, objects_of
from trainshed.prices import S3_MOVED, S3_STORED, PriceList
from trainshed.spec import BucketLifecycle

# Of a rule without a next step: what is kept for longer saves more.
_DAYS = 365
_DAYS_PER_MONTH = 365 / 12
# Amazon S3 FAQ, on billing: a GB is 2^30 bytes.
_KIB_PER_GB = 2**20
_STANDARD = StorageClass(name="STANDARD", title="Standard", days=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectMove:
    """A step of a lifecycle rule, and what it saves.

    Attributes:
        objects: which ones, for people.
        to: title of the storage class that they move to.
        after_days: since they were written.
        stay_days: that they are in the class; a year where no further step ends it.
        smallest_kib: size from which on the move saves money; None where it is unknown, or no
            size does.
        never: no size does.
        unknown: prices that nobody told.
    """

    objects: str
    to: str
    after_days: int
    stay_days: int
    smallest_kib: float | None
    never: bool
    unknown: tuple[str, ...]


def object_moves(plan: ClusterPlan, prices: PriceList) -> tuple[ObjectMove, ...]:
    """Work out what the lifecycle rules of a cluster's bucket save, step by step."""
    new = plan.bucket.new if plan.bucket else None
    return tuple(each for rule in (new.lifecycle if new else ()) for each in _moves(rule, prices))


def _moves(rule: BucketLifecycle, prices: PriceList) -> Iterator[ObjectMove]:
    moves = moves_of(rule)
    left = _STANDARD
    for move, following in pairwise((*moves, None)):
        assert move
        end = following.days if following else rule.expire_days
        stay = end - move.days if end else _DAYS
        yield _object_move(rule, left, move, stay, prices)
        left = move.to


def _object_move(
    rule: BucketLifecycle, left: StorageClass, move: Move, stay: int, prices: PriceList
) -> ObjectMove:
    to = move.to
    items = (S3_STORED["STANDARD"], S3_STORED[left.name], S3_STORED[to.name], S3_MOVED[to.name])
    known = {item: price.usd for item in items if (price := prices.price(item))}
    unknown = tuple(dict.fromkeys(item for item in items if item not in known))
    smallest = None
    if not unknown:
        standard, before, after, thousand_moves = (known[item] for item in items)
        months, paid = (days / _DAYS_PER_MONTH for days in (stay, max(stay, to.days)))
        # For each object, and for each GB of it.
        of_object = thousand_moves / 1000 + (
            (_added(to, after, standard) * paid - _added(left, before, standard) * months)
            / _KIB_PER_GB
        )
        saved = before * months - after * paid
        if saved > 0:
            smallest = max(of_object / saved * _KIB_PER_GB, SMALLEST_MOVED_KIB)
    return ObjectMove(
        objects=objects_of(rule),
        to=to.title,
        after_days=move.days,
        stay_days=stay,
        smallest_kib=smallest,
        never=not unknown and smallest is None,
        unknown=unknown,
    )


def _added(storage_class: StorageClass, price: float, standard: float) -> float:
    """Return what is paid for what a class adds to an object, in KiB times the price of a GB."""
    return storage_class.added_kib * price + storage_class.added_standard_kib * standard
