"""One price, as somebody published it, and one that AWS does not tell."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class Unit(StrEnum):
    """What a price is for one of."""

    HOUR = "hour"
    GB = "GB"
    GB_MONTH = "GB-month"
    IOPS_MONTH = "IOPS-month"
    MIBPS_MONTH = "MiBps-month"
    MBPS_MONTH = "MBps-month"
    MONTH = "month"
    THOUSAND_REQUESTS = "1000 requests"
    THOUSAND_OBJECTS_MONTH = "1000 objects-month"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """A price in US dollars.

    Attributes:
        usd: for one unit; the lowest of a range. Of a commitment, what is paid upfront is in it,
            spread over all hours of the term.
        usd_to: the highest of a range, as spot prices have by zone; None for one price.
        upfront_usd: what of a commitment is paid upfront; None where the source does not tell.
        unit: what it is for one of.
        region: whose price it is.
        date: the day on which it was published or asked.
        source: who published it, and where.
    """

    usd: float
    usd_to: float | None = None
    upfront_usd: float | None = None
    unit: Unit
    region: str
    date: date
    source: str

    def __str__(self) -> str:
        """Return for instance `21.5` or `3.68 to 3.72`."""
        return f"{self.usd:g}" if self.usd_to is None else f"{self.usd:g} to {self.usd_to:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """An item whose price AWS does not tell.

    Attributes:
        item: the item.
        reason: why not.
    """

    item: str
    reason: str
