"""The graphs that every cluster has, whatever starts its jobs."""

from collections.abc import Iterator

from trainshed.metrics import EFA_METRICS, LUSTRE_METRICS, NODE_METRICS, AcceleratorMetrics
from trainshed.monitoring.common import of_cluster, of_lustre, running_nodes
from trainshed.monitoring.model import Line, Widget
from trainshed.monitoring.signals import has_efa, sent_of, signals_of
from trainshed.plan import ClusterPlan, LustrePlan
from trainshed.prices import load_prices

_PERIOD = 60
# Inferred: a file system that is fuller is slow, and people need time to make room.
FULL_PERCENT = 85
GIB = 1024**3


def widgets_of(plan: ClusterPlan) -> Iterator[Widget]:
    """Yield the graphs of nodes, accelerators, network, storage and cost."""
    if signals := signals_of(plan):
        yield from _accelerators(plan, signals)
    if sent_of(plan):
        yield from _nodes(plan)
    if plan.lustre:
        yield from _lustre(plan.lustre)


def _nodes(plan: ClusterPlan) -> Iterator[Widget]:
    if has_efa(plan):
        yield from _efa(plan)
    yield Widget(
        title="Memory and disks of nodes, % used",
        lines=(
            of_cluster(plan, "memory", "memory, mean", NODE_METRICS.memory, statistic="Average"),
            of_cluster(plan, "fullest", "memory, most", NODE_METRICS.memory),
            of_cluster(plan, "disk", "disk, most", NODE_METRICS.disk),
        ),
    )
    yield from _cost(plan)


def _accelerators(plan: ClusterPlan, signals: AcceleratorMetrics) -> Iterator[Widget]:
    statistics = {"mean": "Average", "most": "Maximum", "least": "Minimum"}
    yield Widget(
        title="Accelerators, % busy",
        lines=tuple(
            line
            for label, statistic in statistics.items()
            for line in _percent(plan, signals, label, statistic)
        ),
    )
    yield Widget(
        title=f"Memory of accelerators, {signals.memory_used.unit}",
        lines=(
            of_cluster(plan, "mean", "mean", signals.memory_used, statistic="Average"),
            of_cluster(plan, "most", "most", signals.memory_used),
        ),
    )
    if signals.temperature:
        yield Widget(
            title="Accelerators, degrees Celsius",
            lines=(
                of_cluster(plan, "hottest", "hottest", signals.temperature, statistic="Maximum"),
                of_cluster(plan, "mean", "mean", signals.temperature, statistic="Average"),
            ),
            limit=(signals.hottest, "too hot") if signals.hottest else None,
        )
    yield Widget(
        title="Faults of accelerators",
        lines=tuple(
            of_cluster(plan, f"fault{number}", metric.name, metric)
            for number, metric in enumerate(signals.faults)
        ),
    )


def _percent(
    plan: ClusterPlan, signals: AcceleratorMetrics, label: str, statistic: str
) -> Iterator[Line]:
    is_percent = signals.percent == 1
    yield of_cluster(
        plan, f"raw_{label}", label, signals.utilization, statistic=statistic, shown=is_percent
    )
    if not is_percent:
        yield Line(id=label, label=label, expression=f"{signals.percent:g} * raw_{label}")


def _efa(plan: ClusterPlan) -> Iterator[Widget]:
    directions = {"sent": EFA_METRICS.sent, "received": EFA_METRICS.received}
    yield Widget(
        title="EFA, bytes a second, all nodes",
        lines=tuple(
            line
            for label, metric in directions.items()
            for line in (
                of_cluster(plan, f"bytes_{label}", "", metric, statistic="Sum", shown=False),
                Line(id=label, label=label, expression=f"bytes_{label} / {_PERIOD}"),
            )
        ),
    )
    events = {
        "time-outs": EFA_METRICS.timeouts,
        "impaired connections": EFA_METRICS.impaired,
        "peers that do not answer": EFA_METRICS.unresponsive,
        "packets dropped": EFA_METRICS.dropped,
    }
    yield Widget(
        title="EFA, retransmissions and errors, all nodes",
        lines=tuple(
            of_cluster(plan, f"event{number}", label, metric, statistic="Sum")
            for number, (label, metric) in enumerate(events.items())
        ),
    )


def _lustre(lustre: LustrePlan) -> Iterator[Widget]:
    directions = {"read": LUSTRE_METRICS.read, "written": LUSTRE_METRICS.written}
    yield Widget(
        title="Lustre, bytes a second",
        lines=tuple(
            line
            for label, metric in directions.items()
            for line in (
                of_lustre(lustre, f"bytes_{label}", "", metric),
                Line(id=label, label=label, expression=f"bytes_{label} / {_PERIOD}"),
            )
        ),
    )
    yield Widget(
        title="Lustre, % full",
        lines=lustre_full(lustre),
        limit=(FULL_PERCENT, "too full"),
        period=_PERIOD,
    )


def lustre_full(lustre: LustrePlan) -> tuple[Line, ...]:
    """Return how full a file system is: a new one of its size, another of what it has and uses.

    FSx for Lustre user guide, "Amazon FSx for Lustre metrics and dimensions": in a minute each
    storage target sends what is used of it, so the sum is right for a period of one minute only.
    What is free comes with the storage target as a dimension, of which nobody here knows how many
    an existing file system has.
    """
    used = of_lustre(lustre, "used", "", LUSTRE_METRICS.used)
    if lustre.new:
        size = lustre.new.capacity_gib * GIB
        return used, Line(id="full", label="full", expression=f"100 * used / {size}")
    return (
        of_lustre(lustre, "free", "", LUSTRE_METRICS.free),
        used,
        Line(id="full", label="full", expression="100 * used / (used + free)"),
    )


def _cost(plan: ClusterPlan) -> Iterator[Widget]:
    """Yield what running nodes cost, where the price is known; other types cost as the first."""
    price = load_prices(plan.region).price(plan.capacity.price_item(plan.instance.name))
    if price:
        usd = price.usd_to or price.usd
        yield Widget(
            title=f"Nodes that run, USD an hour ({usd:g} each)",
            lines=(
                *running_nodes(plan, _PERIOD, shown=False),
                Line(id="cost", label="USD an hour", expression=f"{usd:g} * nodes"),
            ),
        )
