"""Sending metrics, and asking for them.

moto counts data of metrics that have further dimensions, and knows no metric math. CloudWatch API
reference, PutMetricData: data may be two weeks old, and two hours ahead. GetMetricData: the
newest data points come first.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.clock import now
from embedded_aws.cloudwatch.datapoints import Metric, Series, read
from embedded_aws.cloudwatch.limits import (
    check_data,
    check_period,
    check_periods,
    check_queries,
    check_statistics,
    rounded_down,
)
from embedded_aws.cloudwatch.new_data import judge_new_data
from embedded_aws.cloudwatch.queries import answers, dimensions_of, queries_of
from embedded_aws.hooks import when_metrics_read

_OLDEST, _NEWEST = timedelta(weeks=2), timedelta(hours=2)


@action("cloudwatch", "PutMetricData")
def put_metric_data(call: Call) -> Any:
    """Take data, by the time of the embedded AWS where they have none."""
    time = now()
    data = []
    sent = call.params.get("MetricData", ())
    check_data(len(sent))
    for number, each in enumerate(sent, 1):
        of = each.get("Timestamp", time)
        if not time - _OLDEST <= of <= time + _NEWEST:
            raise Refusal(
                "InvalidParameterValue",
                f"The parameter MetricData.member.{number}.Timestamp must specify a time within "
                "the past two weeks and no more than two hours in the future.",
            )
        data.append({**each, "Timestamp": of.replace(tzinfo=None)})
    call.backend("cloudwatch").put_metric_data(call.params["Namespace"], data)
    judge_new_data(call.account, call.region)
    return {}


@action("cloudwatch", "GetMetricStatistics")
def get_metric_statistics(call: Call) -> Any:
    """Return the data points of one metric, the oldest first."""
    when_metrics_read.call(call.account, call.region)
    params = call.params
    seconds = params["Period"]
    starts = _starts(params, seconds, check_statistics)
    wanted = params.get("Statistics", [])
    if not wanted:
        raise Refusal(
            "InvalidParameterCombination", "Must specify either Statistics or ExtendedStatistics"
        )
    columns = {
        each: read(
            call.backend("cloudwatch"),
            Metric(
                namespace=params["Namespace"],
                name=params["MetricName"],
                dimensions=dimensions_of(params),
                statistic=each,
                unit=params.get("Unit"),
            ),
            starts,
            timedelta(seconds=seconds),
        )
        for each in wanted
    }
    unit = {"Unit": params["Unit"]} if "Unit" in params else {}
    return {
        "Label": params["MetricName"],
        "Datapoints": [
            {"Timestamp": start, **unit, **{name: each[row] for name, each in columns.items()}}
            for row, start in enumerate(starts)
            if columns[wanted[0]][row] is not None
        ],
    }


@action("cloudwatch", "GetMetricData")
def get_metric_data(call: Call) -> Any:
    """Return the data points of metrics, and what expressions make of them."""
    when_metrics_read.call(call.account, call.region)
    params = call.params
    asked = params["MetricDataQueries"]
    check_queries(len(asked))
    queries = queries_of(asked)
    shortest = min((each.seconds for each in queries if each.seconds), default=0)

    @cache
    def found(seconds: int) -> tuple[list[datetime], dict[str, Series]]:
        starts = _starts(params, seconds, check_periods)
        period = timedelta(seconds=seconds)
        return starts, answers(call.backend("cloudwatch"), queries, starts, period)

    results = []
    for each, wanted in zip(queries, asked, strict=True):
        if wanted.get("ReturnData", True):
            starts, series = found(each.seconds or shortest)
            points = [
                (start, value)
                for start, value in zip(starts, series[each.id], strict=True)
                if value is not None
            ]
            if params.get("ScanBy") != "TimestampAscending":
                points.reverse()
            results.append(
                {
                    "Id": each.id,
                    "Label": wanted.get("Label") or (each.metric.name if each.metric else each.id),
                    "Timestamps": [start for start, _ in points],
                    "Values": [value for _, value in points],
                    "StatusCode": "Complete",
                }
            )
    return {"MetricDataResults": results}


def _starts(
    params: Mapping[str, Any], seconds: int, check: Callable[[int], None]
) -> list[datetime]:
    start, end = params["StartTime"], params["EndTime"]
    if start >= end:
        raise Refusal(
            "ValidationError", "The parameter StartTime must be less than the parameter EndTime."
        )
    check_period(seconds)
    first = rounded_down(start.replace(tzinfo=None), now().replace(tzinfo=None))
    period, end = timedelta(seconds=seconds), end.replace(tzinfo=None)
    count = -(-(end - first) // period)
    check(count)
    return [first + period * number for number in range(count)]
