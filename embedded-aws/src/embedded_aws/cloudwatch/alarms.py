"""Alarms: judged by the data that are there, and telling when their state changes.

They are judged when data arrive, when an alarm is put, and when the control `clock` lets time pass,
as of then; on AWS every minute. CloudWatch user guide, "Alarm evaluation" and "Configuring how
CloudWatch alarms treat missing data": the periods end with the last whole minute; more of them are
looked at than the alarm has, so that missing points are made up for by older ones; what is missing
then is treated as the alarm says; and an alarm of which all points that are there are breaching
goes off, once the oldest of them is as old as its points to alarm. Inferred: how many more periods
are looked at. A new alarm has not enough data (PutMetricAlarm). Of actions only those that publish
to SNS or call a function are done.
"""

import threading
from collections.abc import Callable, Mapping
from copy import copy
from datetime import datetime, timedelta
from typing import Any

from moto.backends import get_backend

from embedded_aws.actions import Call, Refusal, action
from embedded_aws.clock import now
from embedded_aws.cloudwatch.alarm_messages import tell
from embedded_aws.cloudwatch.datapoints import MINUTE, Metric, Series, check_statistic, whole_minute
from embedded_aws.cloudwatch.limits import check_alarm
from embedded_aws.cloudwatch.queries import Query, answers, queries_of, query_of_expression
from embedded_aws.hooks import when_metrics_read, when_time_passed

_MORE_PERIODS = 2
_NO_DATA = "INSUFFICIENT_DATA"
_BREACHES: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
    "GreaterThanThreshold": lambda value, threshold: value > threshold,
    "LessThanOrEqualToThreshold": lambda value, threshold: value <= threshold,
    "LessThanThreshold": lambda value, threshold: value < threshold,
}
_OF_STATE = ("state_value", "state_reason", "state_reason_data", "state_updated_timestamp")
_OF_ONE_METRIC = ("Namespace", "MetricName", "Period", "Statistic")
_lock = threading.Lock()


@action("cloudwatch", "PutMetricAlarm")
def put_metric_alarm(call: Call) -> Any:
    """Make or change an alarm; a change leaves its state."""
    params = call.params
    if params["ComparisonOperator"] not in _BREACHES:
        raise Refusal(
            "InvalidParameterValue",
            f"The embedded AWS judges by no anomalies, only by {', '.join(_BREACHES)}",
        )
    if "ExtendedStatistic" in params:
        check_statistic(params["ExtendedStatistic"])
    queries = queries_of(params.get("Metrics", ()))
    required = ("Threshold",) if queries else ("Threshold", *_OF_ONE_METRIC)
    if missing := [each for each in required if each not in params]:
        raise Refusal("ValidationError", f"The parameter {missing[0]} is required.")
    for each in queries:
        if each.metric:
            check_statistic(each.metric.statistic)
    if params.get("DatapointsToAlarm", 1) > params["EvaluationPeriods"]:
        raise Refusal(
            "ValidationError", "DatapointsToAlarm must be less than or equal to EvaluationPeriods"
        )
    if queries and [each.get("ReturnData", True) for each in params["Metrics"]].count(True) != 1:
        raise Refusal(
            "ValidationError",
            "Exactly one element of the metrics list should return data.",
        )
    periods = [each.seconds for each in queries if each.seconds]
    check_alarm(
        params.get("Period") or max(periods, default=MINUTE.seconds),
        params["EvaluationPeriods"],
        params.get("TreatMissingData", "missing"),
    )
    alarms, name = call.backend("cloudwatch").alarms, params["AlarmName"]
    with _lock:
        before = alarms.get(name)
        answer = call.moto()
        made = alarms[name]
        made.configuration_updated_timestamp = made.state_updated_timestamp = now()
        made.state_value = _NO_DATA
        if before:
            for attribute in _OF_STATE:
                setattr(made, attribute, getattr(before, attribute))
    judge(call.account, call.region)
    return answer


@action("cloudwatch", "SetAlarmState")
def set_alarm_state(call: Call) -> Any:
    """Set a state, and do what the alarm does then."""
    alarms, name = call.backend("cloudwatch").alarms, call.params["AlarmName"]
    before = alarms[name].state_value if name in alarms else ""
    answer = call.moto()
    alarm = alarms[name]
    alarm.state_updated_timestamp = now()
    if alarm.state_value != before:
        tell(alarm, before, call.account, call.region)
    return answer


@when_time_passed
def _judge_all() -> None:
    for account, regions in get_backend("cloudwatch").items():
        for region in list(regions):
            judge(account, region)


def judge(account: str, region: str) -> None:
    """Bring every alarm of an account and region into the state that its data say."""
    backend = get_backend("cloudwatch")[account][region]
    when_metrics_read.call(account, region)
    with _lock:
        changed = [
            (copy(alarm), before)
            for alarm in list(backend.alarms.values())
            # Composite alarms have a rule.
            if alarm.rule is None and (before := _judge(backend, alarm))
        ]
    # Without the lock: a function that is called may send data, so that alarms are judged.
    for alarm, before in changed:
        tell(alarm, before, account, region)


def _judge(backend: Any, alarm: Any) -> str | None:
    """Bring an alarm into the state that its data say; return its former one if that changes it."""
    queries, returned = _queries(alarm)
    seconds = max(each.seconds for each in queries if each.seconds)
    period, end = timedelta(seconds=seconds), whole_minute(now())
    count = alarm.evaluation_periods + _MORE_PERIODS
    starts = [end - period * number for number in range(count, 0, -1)]
    points = answers(backend, queries, starts, period)[returned]
    state = _state(alarm, points)
    before: str = alarm.state_value
    if state is None or state == before:
        return None
    alarm.update_state(_reason(alarm, points, starts), "{}", state)
    alarm.state_updated_timestamp = now()
    return before


def _state(alarm: Any, points: Series) -> str | None:
    """Return the state that data points say, the oldest first; None for the one that it has."""
    periods = alarm.evaluation_periods
    needed = alarm.datapoints_to_alarm or periods
    known = [point for point in points if point is not None][-periods:]
    breaching = sum(_breaches(alarm, point) for point in known)
    missing = periods - len(known)
    treatment = alarm.treat_missing_data or "missing"
    if treatment == "breaching":
        breaching += missing
    if breaching >= needed:
        return "ALARM"
    if treatment in ("breaching", "notBreaching") or breaching < len(known):
        return "OK"
    if treatment == "ignore":
        return None
    if not known:
        return _NO_DATA
    first = next(number for number, point in enumerate(points) if point is not None)
    return "ALARM" if len(points) - first >= needed else None


def _breaches(alarm: Any, value: float) -> bool:
    return _BREACHES[alarm.comparison_operator](value, alarm.threshold)


def _queries(alarm: Any) -> tuple[list[Query], str]:
    """Return the queries of an alarm, and the id of the one that it judges."""
    if not alarm.metric_data_queries:
        metric = _metric(alarm, alarm.namespace, alarm.metric_name, alarm.statistic, alarm.unit)
        return [Query(id="m1", metric=metric, expression=None, seconds=alarm.period)], "m1"
    queries = []
    for each in alarm.metric_data_queries:
        stat = each.metric_stat
        if stat is None:
            queries.append(query_of_expression(each.id, each.expression, each.period))
            continue
        found = stat.metric
        metric = _metric(found, found.namespace, found.metric_name, stat.stat, stat.unit)
        queries.append(Query(id=each.id, metric=metric, expression=None, seconds=stat.period))
    # AWS's default is true.
    returned = next(e.id for e in alarm.metric_data_queries if e.return_data in (None, True))
    return queries, returned


def _metric(of: Any, namespace: str, name: str, statistic: str, unit: str | None) -> Metric:
    return Metric(
        namespace=namespace,
        name=name,
        dimensions=frozenset((each.name, each.value) for each in of.dimensions),
        statistic=statistic,
        unit=unit,
    )


def _reason(alarm: Any, points: Series, starts: list[datetime]) -> str:
    """Say why, much as CloudWatch does."""
    periods = alarm.evaluation_periods
    shown = [
        f"{point} ({start:%d/%m/%y %H:%M:%S})"
        for point, start in zip(points, starts, strict=True)
        if point is not None
    ][-periods:]
    if not shown:
        return f"no datapoints were received for {periods} period(s)"
    return (
        f"Threshold Crossed: {len(shown)} out of the last {periods} datapoints "
        f"[{', '.join(reversed(shown))}], judged by {alarm.comparison_operator} "
        f"({alarm.threshold}), {alarm.datapoints_to_alarm or periods} datapoints to alarm."
    )
