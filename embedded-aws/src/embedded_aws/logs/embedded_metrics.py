"""Metrics that log events carry: the embedded metric format.

CloudWatch user guide, "Specification: Embedded metric format": CloudWatch Logs makes metrics of an
event that is such a document, also without the header `x-amzn-logs-format`, and keeps it as a log
event in any case. A document that breaks a rule gives no metric at all; that is counted in
`AWS/Logs`, as "Monitoring CloudWatch Logs usage with CloudWatch metrics" says.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.backends import get_backend

from embedded_aws.clock import now
from embedded_aws.cloudwatch.new_data import judge_new_data
from embedded_aws.cloudwatch.recording import record

_METADATA = "_aws"
_OLDEST, _NEWEST = timedelta(weeks=2), timedelta(hours=2)
# The same page: "Dimension set" and "Metric value".
_MOST_DIMENSIONS, _MOST_METRICS, _MOST_VALUES = 30, 100, 100
# CloudWatch API reference, MetricDatum: values are in this range, in both directions.
_LARGEST = 2**360


def extract_metrics(account: str, region: str, group: str, messages: Sequence[str]) -> None:
    """Make metrics of the messages that carry some.

    Args:
        account: of the log group.
        region: of the log group.
        group: its name.
        messages: of new log events.
    """
    backend = get_backend("cloudwatch")[account][region]
    found = [document for message in messages if (document := _document(message))]
    data: list[tuple[str, dict[str, Any]]] = []
    for document in found:
        try:
            data += list(_data(document))
        except (KeyError, OverflowError, TypeError, ValueError):
            record(
                account,
                region,
                namespace="AWS/Logs",
                dimensions={"LogGroupName": group},
                EMFValidationErrors=1,
            )
    for namespace, datum in _summed_up(data):
        backend.put_metric_data(namespace, [datum])
    if found:
        judge_new_data(account, region)


def _document(message: str) -> Mapping[str, Any] | None:
    if not message.startswith("{"):
        return None
    try:
        document: Mapping[str, Any] = json.loads(message)
    except (RecursionError, ValueError):
        return None
    metadata = document.get(_METADATA)
    is_one = isinstance(metadata, dict) and "CloudWatchMetrics" in metadata
    return document if is_one else None


def _data(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each datum with its namespace.

    Raises:
        KeyError: a member is missing, also one that is referred to.
        OverflowError: the time is too far away for a date.
        TypeError: a member is of another type.
        ValueError: a member is not valid.
    """
    metadata = document[_METADATA]
    time = datetime.fromtimestamp(metadata["Timestamp"] / 1000, tz=UTC)
    if not now() - _OLDEST <= time <= now() + _NEWEST:
        raise ValueError(time)
    for directive in metadata["CloudWatchMetrics"]:
        if len(directive["Metrics"]) > _MOST_METRICS:
            raise ValueError(directive)
        for keys in directive["Dimensions"]:
            dimensions = _dimensions(document, keys)
            for metric in directive["Metrics"]:
                yield (
                    _text(directive["Namespace"]),
                    {
                        "MetricName": metric["Name"],
                        "Dimensions": dimensions,
                        "Timestamp": time.replace(tzinfo=None),
                        "Unit": _text(metric.get("Unit", "None")),
                        "Values": _values(document[metric["Name"]]),
                    },
                )


def _summed_up(
    data: Iterable[tuple[str, dict[str, Any]]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield one datum for those of a metric that have the same time, of which there may be many."""
    alike: dict[tuple[Any, ...], list[float]] = {}
    for namespace, datum in data:
        dimensions = tuple((each["Name"], each["Value"]) for each in datum["Dimensions"])
        key = (namespace, datum["MetricName"], dimensions, datum["Unit"], datum["Timestamp"])
        alike.setdefault(key, []).extend(datum["Values"])
    for (namespace, name, dimensions, unit, time), values in alike.items():
        if values:
            yield (
                namespace,
                {
                    "MetricName": name,
                    "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions],
                    "Timestamp": time,
                    "Unit": unit,
                    "StatisticValues": {
                        "Maximum": max(values),
                        "Minimum": min(values),
                        "SampleCount": len(values),
                        "Sum": sum(values),
                    },
                },
            )


def _dimensions(document: Mapping[str, Any], keys: Sequence[str]) -> list[dict[str, str]]:
    if len(keys) > _MOST_DIMENSIONS or not all(isinstance(document[key], str) for key in keys):
        raise ValueError(keys)
    return [{"Name": key, "Value": document[key]} for key in keys]


def _text(target: Any) -> str:
    if not isinstance(target, str):
        raise TypeError(target)
    return target


def _values(target: Any) -> list[float]:
    values = target if isinstance(target, list) else [target]
    if len(values) > _MOST_VALUES:
        raise ValueError(values)
    if any(isinstance(each, bool) or not isinstance(each, (int, float)) for each in values):
        raise TypeError(target)
    # Nor is NaN in the range.
    if not all(-_LARGEST <= each <= _LARGEST for each in values):
        raise ValueError(target)
    return values
