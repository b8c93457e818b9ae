"""Which metrics there are.

moto compares the data of all metrics with each other, which takes minutes for those of some nodes.
"""

from typing import Any

from moto.cloudwatch.models import CloudWatchBackend

from embedded_aws.actions import Call, action, correction
from embedded_aws.hooks import when_metrics_read


@action("cloudwatch", "ListMetrics")
def list_metrics(call: Call) -> Any:
    """Return the metrics that have data."""
    when_metrics_read.call(call.account, call.region)
    return call.moto()


@correction
def _find_metrics_quickly() -> None:
    CloudWatchBackend.get_filtered_metrics = _filtered_metrics  # type: ignore[assignment]


def _filtered_metrics(
    backend: CloudWatchBackend,
    metric_name: str,
    namespace: str,
    dimensions: list[dict[str, str]],
) -> list[Any]:
    """Return a datum of each metric that has this name, namespace and dimensions, if not empty."""
    found: dict[tuple[Any, ...], Any] = {}
    for datum in backend.get_all_metrics():
        pairs = frozenset((each.name, each.value) for each in datum.dimensions)
        key = (datum.namespace, datum.name, pairs)
        if key not in found and datum.filter(namespace, metric_name, dimensions):
            found[key] = datum
    return list(found.values())
