"""Lines that several widgets and alarms have."""

from trainshed.metrics import CLUSTER, NODE_METRICS, Metric
from trainshed.monitoring.model import PARAMETER, Line
from trainshed.plan import ClusterPlan, LustrePlan
from trainshed.plan.storage import parameter_prefix


def of_cluster(
    plan: ClusterPlan,
    line_id: str,
    label: str,
    metric: Metric,
    *,
    statistic: str | None = None,
    shown: bool = True,
) -> Line:
    """Return a metric of all nodes of a cluster."""
    return Line(
        id=line_id,
        label=label,
        metric=metric,
        dimensions={CLUSTER: plan.name},
        statistic=statistic,
        shown=shown,
    )


def running_nodes(plan: ClusterPlan, period: int, *, shown: bool = True) -> tuple[Line, ...]:
    """Return how many nodes run: each sends how much of its memory is used, once a minute."""
    return (
        of_cluster(plan, "samples", "", NODE_METRICS.memory, statistic="SampleCount", shown=False),
        Line(id="nodes", label="running", expression=f"samples / {period // 60}", shown=shown),
    )


def of_lustre(lustre: LustrePlan, line_id: str, label: str, metric: Metric) -> Line:
    """Return a metric that FSx sends of a file system.

    Its id is where nodes find it, so that a stack of the cluster needs no export of the storage.
    """
    parameter = f"{parameter_prefix(lustre.kind, lustre.name)}/file-system-id"
    return Line(
        id=line_id,
        label=label,
        metric=metric,
        dimensions={"FileSystemId": f"{PARAMETER}{parameter}"},
        shown=False,
    )
