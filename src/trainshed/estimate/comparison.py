"""The same training on one node of several types: how fast, and for how much."""

from collections.abc import Iterator
from dataclasses import dataclass

from trainshed import catalogue
from trainshed.estimate.published import Comparison, comparisons
from trainshed.prices import Price, PriceList, Purchase, instance_item


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedType:
    """A training on one node of a type.

    Attributes:
        model: what is trained.
        sample: what is counted.
        instance_type: the type.
        withdrawn: the EC2 API no longer lists the type.
        per_second: samples a second.
        price: of an hour on demand; None when it is unknown.
        source: who published the throughput.
    """

    model: str
    sample: str
    instance_type: str
    withdrawn: bool
    per_second: float
    price: Price | None
    source: str

    @property
    def usd_per_million(self) -> float | None:
        """Cost of the node for a million samples; None when its price is unknown."""
        if self.price is None:
            return None
        return self.price.usd / (self.per_second * 3600) * 1_000_000


def compare(prices: PriceList) -> tuple[ComparedType, ...]:
    """Return all that is published of several types, by the prices of a region."""
    return tuple(row for comparison in comparisons() for row in _rows(comparison, prices))


def _rows(comparison: Comparison, prices: PriceList) -> Iterator[ComparedType]:
    for instance_type, per_second in comparison.per_second.items():
        yield ComparedType(
            model=comparison.model,
            sample=comparison.sample,
            instance_type=instance_type,
            withdrawn=catalogue.lookup(instance_type).withdrawn,
            per_second=per_second,
            price=prices.price(instance_item(Purchase.ON_DEMAND, instance_type)),
            source=comparison.source,
        )
