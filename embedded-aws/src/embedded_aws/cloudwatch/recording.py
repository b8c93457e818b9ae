"""Metrics that services of AWS send to CloudWatch by themselves."""

from collections.abc import Mapping

from moto.backends import get_backend

from embedded_aws.clock import now


def record(
    account: str, region: str, *, namespace: str, dimensions: Mapping[str, str], **counts: float
) -> None:
    """Send counts, each as the value of the metric of its name.

    Args:
        account: whose metrics they are.
        region: of the metrics.
        namespace: for instance `AWS/Events`.
        dimensions: of all of them.
        counts: values by the names of the metrics.
    """
    get_backend("cloudwatch")[account][region].put_metric_data(
        namespace,
        [
            {
                "MetricName": name,
                "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
                "Timestamp": now().replace(tzinfo=None),
                "Unit": "Count",
                "Value": value,
            }
            for name, value in counts.items()
        ],
    )
