"""The data points of a metric: a statistic of its data in each of some periods.

CloudWatch user guide, "Metrics concepts": a metric is a namespace, a name and exactly these
dimensions; data belong to the minute that their time is in.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from moto.cloudwatch.models import MetricAggregatedDatum

from embedded_aws.actions import Refusal

# A value of each period, None where there is none.
Series = list[float | None]
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric, and what of it is asked for.

    Attributes:
        namespace: for instance `AWS/FSx`.
        name: for instance `FreeDataStorageCapacity`.
        dimensions: all that it has, but for those of any value.
        others: names of dimensions that it has with any value, so that it may be several metrics.
        statistic: of each period.
        unit: of the data that count; None for all.
    """

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]
    statistic: str
    unit: str | None
    others: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    minimum: float
    maximum: float
    total: float
    count: float


_STATISTICS: Mapping[str, Callable[[Sequence[_Sample]], float]] = {
    "Average": lambda found: sum(e.total for e in found) / sum(e.count for e in found),
    "Maximum": lambda found: max(each.maximum for each in found),
    "Minimum": lambda found: min(each.minimum for each in found),
    "SampleCount": lambda found: sum(each.count for each in found),
    "Sum": lambda found: sum(each.total for each in found),
}


def check_statistic(statistic: str) -> None:
    """Refuse a statistic that is not known here.

    Raises:
        Refusal: percentiles and trimmed statistics of AWS are among them.
    """
    if statistic not in _STATISTICS:
        raise Refusal(
            "InvalidParameterValue",
            f"The embedded AWS does not know the statistic {statistic}, only "
            f"{', '.join(_STATISTICS)}",
        )


def read(backend: Any, metric: Metric, starts: Sequence[datetime], period: timedelta) -> Series:
    """Return a value for each period.

    Args:
        backend: moto's CloudWatch of an account and region.
        metric: what is asked for.
        starts: beginning of each period, the oldest first, without a zone, in UTC.
        period: how long each is.
    """
    check_statistic(metric.statistic)
    found: list[list[_Sample]] = [[] for _ in starts]
    for datum in backend.get_all_metrics():
        if _is_of(datum, metric):
            minute = whole_minute(datum.timestamp)
            number = bisect_right(starts, minute) - 1
            if number >= 0 and minute < starts[number] + period:
                found[number].append(_sample(datum))
    return [_STATISTICS[metric.statistic](each) if each else None for each in found]


def _is_of(datum: Any, metric: Metric) -> bool:
    if (datum.namespace, datum.name) != (metric.namespace, metric.name):
        return False
    dimensions = {(each.name, each.value) for each in datum.dimensions}
    return (
        metric.dimensions <= dimensions
        and {name for name, _ in dimensions - metric.dimensions} == metric.others
        and (metric.unit is None or datum.unit == metric.unit)
    )


def _sample(datum: Any) -> _Sample:
    if isinstance(datum, MetricAggregatedDatum):
        return _Sample(
            minimum=datum.min, maximum=datum.max, total=datum.sum, count=datum.sample_count
        )
    value = datum.value
    return _Sample(minimum=value, maximum=value, total=value, count=1)


def whole_minute(time: datetime) -> datetime:
    """Return the beginning of a minute, without a zone, in UTC."""
    return time.replace(second=0, microsecond=0, tzinfo=None)
