"""The alarms that every cluster has, whatever starts its jobs."""

from collections.abc import Iterator

from trainshed.metrics import EFA_METRICS, AcceleratorMetrics
from trainshed.monitoring.common import of_cluster, running_nodes
from trainshed.monitoring.model import Alarm, Line, Missing
from trainshed.monitoring.signals import has_efa, sent_of, signals_of
from trainshed.monitoring.widgets import FULL_PERCENT, lustre_full
from trainshed.plan import ClusterPlan

_MINUTE, _FIVE_MINUTES = 60, 300
# Inferred: accelerators that compute are busier than that, and those that only wait for a peer are
# busy, too, while a step of a training on several nodes sends far more than that in five minutes.
_BUSY_PERCENT, _FLAT_BYTES = 50, 10**6


def alarms_of(plan: ClusterPlan) -> Iterator[Alarm]:
    """Yield the alarms about accelerators, network and storage."""
    signals = signals_of(plan)
    if has_efa(plan) and sent_of(plan):
        if signals and plan.nodes.max > 1:
            yield _no_progress(plan, signals)
        yield _retransmissions(plan)
    if signals:
        if signals.temperature and signals.hottest:
            yield _hot(plan, signals)
        if signals.is_always_sent:
            yield _lost(plan, signals)
        yield _faults(plan, signals)
    if plan.lustre:
        yield Alarm(
            name="lustre-full",
            says=f"The Lustre file system {plan.lustre.name} is more than {FULL_PERCENT} % full: "
            "delete or export files, or give it more capacity.",
            lines=lustre_full(plan.lustre),
            above=FULL_PERCENT,
            period=_MINUTE,
            periods=15,
            points=15,
            # It is always there; FSx may send late.
            missing=Missing.IGNORE,
        )


def _no_progress(plan: ClusterPlan, signals: AcceleratorMetrics) -> Alarm:
    """Accelerators that are busy while no byte goes over EFA wait for a peer that is gone."""
    busy = _BUSY_PERCENT / signals.percent
    return Alarm(
        name="no-progress",
        says=f"For 15 minutes the accelerators are more than {_BUSY_PERCENT} % busy, and nothing "
        "goes over EFA: a job on several nodes hangs, or jobs on one node run. Look at "
        f"trainshed job list {plan.name}, and at what its ranks print.",
        lines=(
            of_cluster(plan, "busy", "busy", signals.utilization, statistic="Average", shown=False),
            of_cluster(plan, "sent", "sent", EFA_METRICS.sent, statistic="Sum", shown=False),
            *running_nodes(plan, _FIVE_MINUTES, shown=False),
            Line(
                id="stuck",
                label="no progress",
                expression=f"IF(busy > {busy:g} AND sent < {_FLAT_BYTES} AND nodes > 1.5, 1, 0)",
            ),
        ),
        above=0,
        period=_FIVE_MINUTES,
        periods=3,
        points=3,
        # Nodes that are not there send nothing.
        missing=Missing.NOT_BREACHING,
    )


def _retransmissions(plan: ClusterPlan) -> Alarm:
    """Packets that are sent again are EFA's daily work; time-outs and silent peers are not."""
    return Alarm(
        name="retransmissions",
        says="For 15 minutes EFA has had time-outs or peers that do not answer: a node or its "
        f"network is unwell. The dashboard shows since when; trainshed top {plan.name} shows the "
        "node.",
        lines=(
            of_cluster(plan, "timeouts", "", EFA_METRICS.timeouts, shown=False),
            of_cluster(plan, "silent", "", EFA_METRICS.unresponsive, shown=False),
            Line(id="events", label="events", expression="SUM([timeouts, silent])"),
        ),
        above=0,
        period=_FIVE_MINUTES,
        periods=3,
        points=3,
        missing=Missing.NOT_BREACHING,
    )


def _hot(plan: ClusterPlan, signals: AcceleratorMetrics) -> Alarm:
    assert signals.temperature and signals.hottest
    return Alarm(
        name="hot",
        says=f"An accelerator has been hotter than {signals.hottest:g} degrees Celsius for 5 "
        f"minutes, and slows down: trainshed top {plan.name} shows the node; replace it.",
        lines=(of_cluster(plan, "hottest", "", signals.temperature, statistic="Maximum"),),
        above=signals.hottest,
        period=_MINUTE,
        periods=5,
        points=5,
        missing=Missing.NOT_BREACHING,
    )


def _lost(plan: ClusterPlan, signals: AcceleratorMetrics) -> Alarm:
    """Each accelerator of a node sends a sample a minute, and each node one of its memory."""
    each = plan.instance.accelerator.count
    return Alarm(
        name="lost-accelerator",
        says=f"Nodes have sent fewer than {each} samples each of their accelerators for 15 "
        f"minutes: one is gone. trainshed top {plan.name} shows the node; replace it.",
        lines=(
            of_cluster(plan, "seen", "", signals.utilization, statistic="SampleCount", shown=False),
            *running_nodes(plan, _FIVE_MINUTES, shown=False),
            Line(
                id="lost",
                label="lost",
                expression=f"{each} * nodes - seen / {_FIVE_MINUTES // _MINUTE}",
            ),
        ),
        # A node that has just come or gone has sent some of its samples: less than half of one
        # accelerator in every one of three periods.
        above=0.5,
        period=_FIVE_MINUTES,
        periods=3,
        points=3,
        missing=Missing.NOT_BREACHING,
    )


def _faults(plan: ClusterPlan, signals: AcceleratorMetrics) -> Alarm:
    ids = [f"fault{number}" for number in range(len(signals.faults))]
    return Alarm(
        name="accelerator-fault",
        says="An accelerator has had an error that its maker calls a fault of the hardware: "
        f"trainshed top {plan.name} shows the node; replace it.",
        lines=(
            *(
                of_cluster(plan, line_id, metric.name, metric, shown=False)
                for line_id, metric in zip(ids, signals.faults, strict=True)
            ),
            Line(id="faults", label="faults", expression=f"SUM([{', '.join(ids)}])"),
        ),
        above=0,
        period=_FIVE_MINUTES,
        periods=1,
        points=1,
        missing=Missing.NOT_BREACHING,
    )
