"""One training on the nodes of a cluster: throughput, time and money."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainshed.cost import Total, cluster_cost
from trainshed.errors import TrainshedError, UnknownName
from trainshed.estimate.published import Scaling, comparisons, scalings
from trainshed.estimate.scaling_model import scaling_model
from trainshed.plan import ClusterPlan
from trainshed.prices import PriceList

_SECONDS_PER_HOUR = 3600
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A figure that is not known better than between two values.

    Attributes:
        low: the lowest.
        high: the highest.
    """

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What is to be expected of a training.

    Attributes:
        training: the published measurement that it rests on.
        cluster: name of the cluster.
        nodes: how many take part.
        published: the throughput was published for this count of nodes; else a model fills it in.
        per_second: samples a second.
        efficiency: a node's throughput among the others, over its throughput alone; None where
            nobody has published the latter.
        hours: time to train; None where nobody has published any.
        cost: of the cluster for that time, at the least and at the most; None without a time.
        hours_per_million: time for a million samples.
        cost_per_million: of the cluster for that time, at the least and at the most.
        remarks: how the figures came about, and what to know of them.
    """

    training: Scaling
    cluster: str
    nodes: int
    published: bool
    per_second: Range
    efficiency: Range | None
    hours: Range | None
    cost: tuple[Total, Total] | None
    hours_per_million: Range
    cost_per_million: tuple[Total, Total]
    remarks: tuple[str, ...]


def estimate(model: str, plan: ClusterPlan, nodes: int, prices: PriceList) -> Estimate:
    """Estimate a training from what is published for its model and the cluster's type.

    Args:
        model: for instance `bert-1.5b`.
        plan: the cluster.
        nodes: how many of its nodes take part.
        prices: those of the cluster's region.

    Raises:
        TrainshedError: nothing is published that the estimate could rest on.
    """
    training = _published(model, plan.instance.name)
    per_second = _throughput(training, nodes)
    hours = _hours(training, nodes, per_second)
    million = _times(per_second, _MILLION, _MILLION)
    return Estimate(
        training=training,
        cluster=plan.name,
        nodes=nodes,
        published=nodes in training.per_second,
        per_second=per_second,
        efficiency=_efficiency(training, nodes, per_second),
        hours=hours,
        cost=run_costs(plan, prices, nodes, hours) if hours else None,
        hours_per_million=million,
        cost_per_million=run_costs(plan, prices, nodes, million),
        remarks=tuple(_remarks(training, nodes)),
    )


def _published(model: str, instance_type: str) -> Scaling:
    several = [entry for entry in scalings() if entry.model == model]
    one = [entry for entry in comparisons() if entry.model == model]
    if not several and not one:
        known = {entry.model for entry in scalings()} | {entry.model for entry in comparisons()}
        raise UnknownName("model", model, known)
    found = [entry for entry in several if entry.instance_type == instance_type]
    found += [entry.of(instance_type) for entry in one if instance_type in entry.per_second]
    if not found:
        types = {e.instance_type for e in several} | {name for e in one for name in e.per_second}
        raise TrainshedError(
            f"nobody has published how fast {instance_type} trains {model}, and nothing is "
            f"estimated from other types (published: {', '.join(sorted(types))})"
        )
    return found[0]


def _throughput(training: Scaling, nodes: int) -> Range:
    if nodes in training.per_second:
        return Range(low=training.per_second[nodes], high=training.per_second[nodes])
    counts = training.per_second
    if 1 not in counts or not 1 < nodes < max(counts):
        known = ", ".join(map(str, counts))
        raise TrainshedError(
            f"{training.model} on {nodes} x {training.instance_type}: published for {known} "
            f"node{'s' if list(counts) != [1] else ''}, and nothing is estimated beyond what is "
            "published; choose a published number of nodes, or one between two published ones"
        )
    model, error = scaling_model()
    middle = model.fit(counts)(nodes)
    return Range(low=middle * (1 - error / 100), high=middle * (1 + error / 100))


def _efficiency(training: Scaling, nodes: int, per_second: Range) -> Range | None:
    alone = training.per_second.get(1)
    if alone is None:
        return None
    return Range(low=per_second.low / nodes / alone, high=per_second.high / nodes / alone)


def _hours(training: Scaling, nodes: int, per_second: Range) -> Range | None:
    """Return the time to train: as published, or for as many samples as the published ones take."""
    if nodes in training.hours:
        low, high = training.hours[nodes]
        return Range(low=low, high=high)
    if not training.hours:
        return None
    return _times(per_second, *_samples(training))


def _samples(training: Scaling) -> tuple[float, float]:
    """Return how many samples the published times to train stand for, fewest and most."""
    samples = [
        hours * _SECONDS_PER_HOUR * training.per_second[nodes]
        for nodes, both in training.hours.items()
        for hours in both
    ]
    return min(samples), max(samples)


def _times(per_second: Range, fewest: float, most: float) -> Range:
    return Range(
        low=fewest / per_second.high / _SECONDS_PER_HOUR,
        high=most / per_second.low / _SECONDS_PER_HOUR,
    )


def run_costs(
    plan: ClusterPlan, prices: PriceList, nodes: int, hours: Range
) -> tuple[Total, Total]:
    """Return what a cluster costs while a run lasts, for the shortest time and the longest."""
    low, high = (
        cluster_cost(plan, prices, nodes=nodes, hours=time).run for time in (hours.low, hours.high)
    )
    assert low and high  # hours were given
    return low.cost, high.cost


def _remarks(training: Scaling, nodes: int) -> Iterable[str]:
    if nodes in training.per_second:
        yield "throughput: one published figure; nobody has published how much it varies"
    else:
        model, error = scaling_model()
        yield (
            f"throughput: {model.formula}, fitted on {', '.join(map(str, training.per_second))} "
            f"nodes; the range is its largest error where it could be checked, {error:.1f} %"
        )
    if training.hours and nodes not in training.hours:
        fewest, most = _samples(training)
        yield (
            f"time: the published ones stand for {fewest / _MILLION:.0f} to "
            f"{most / _MILLION:.0f} million {training.sample}"
        )
    if not training.hours:
        yield f"nobody has published how long {training.model} takes to train"
    if training.remark:
        yield training.remark
