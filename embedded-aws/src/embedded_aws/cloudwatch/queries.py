"""Queries of metrics and of expressions of them, as alarms, dashboards and GetMetricData have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from graphlib import CycleError, TopologicalSorter
from typing import Any

from embedded_aws.actions import Refusal
from embedded_aws.cloudwatch.datapoints import Metric, Series, read
from embedded_aws.cloudwatch.expressions import evaluate, names, parse
from embedded_aws.cloudwatch.insights import is_insights, metric_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A metric or an expression.

    Attributes:
        id: by which expressions name it.
        metric: what is asked for, also by a query of Metrics Insights; None for an expression.
        expression: metric math; None for a metric.
        seconds: its period; None for that of the metrics that an expression is made of.
    """

    id: str
    metric: Metric | None
    expression: str | None
    seconds: int | None


def queries_of(parameters: Sequence[Mapping[str, Any]]) -> list[Query]:
    """Read queries as the API has them.

    Raises:
        Refusal: an expression is wrong, or no query has a period.
    """
    found = [_query(each) for each in parameters]
    known = {each.id for each in found}
    made_of = {each.id: set(names(parse(each.expression))) for each in found if each.expression}
    for name, each in made_of.items():
        if unknown := sorted(each - known):
            raise Refusal(
                "ValidationError", f"Error in expression '{name}': {unknown[0]} is not defined"
            )
    try:
        TopologicalSorter(made_of).prepare()
    except CycleError:
        raise Refusal("ValidationError", "The expressions are made of each other") from None
    if found and not any(each.seconds for each in found):
        raise Refusal("ValidationError", "An expression without metrics needs a Period")
    return found


def _query(each: Mapping[str, Any]) -> Query:
    if "Expression" in each:
        return query_of_expression(each["Id"], each["Expression"], each.get("Period"))
    if "MetricStat" not in each:
        raise Refusal(
            "ValidationError", "The parameter MetricDataQueries.member.1.MetricStat is required.\n"
        )
    stat = each["MetricStat"]
    metric = Metric(
        namespace=stat["Metric"]["Namespace"],
        name=stat["Metric"]["MetricName"],
        dimensions=dimensions_of(stat["Metric"]),
        statistic=stat["Stat"],
        unit=stat.get("Unit"),
    )
    return Query(id=each["Id"], metric=metric, expression=None, seconds=stat["Period"])


def query_of_expression(name: str, expression: str, seconds: int | None) -> Query:
    """Return a query of metric math or of Metrics Insights.

    Args:
        name: by which expressions name it.
        expression: its text.
        seconds: its period; None for that of the metrics that it is made of.

    Raises:
        Refusal: a query of Metrics Insights is wrong, or has no period.
    """
    if not is_insights(expression):
        return Query(id=name, metric=None, expression=expression, seconds=seconds)
    if seconds is None:
        raise Refusal(
            "ValidationError", f"Period must not be null in the Metrics Insights query {name}"
        )
    return Query(id=name, metric=metric_of(expression), expression=None, seconds=seconds)


def dimensions_of(parameters: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return the dimensions that a call names."""
    return frozenset((each["Name"], each["Value"]) for each in parameters.get("Dimensions", ()))


def answers(
    backend: Any, queries: Sequence[Query], starts: Sequence[datetime], period: timedelta
) -> dict[str, Series]:
    """Return the series of each query, by its id.

    Args:
        backend: moto's CloudWatch of an account and region.
        queries: those of one question or alarm, which `queries_of` lets in.
        starts: beginning of each period, without a zone, in UTC.
        period: how long each is.
    """
    found = {each.id: read(backend, each.metric, starts, period) for each in queries if each.metric}
    expressions = {each.id: parse(each.expression) for each in queries if each.expression}
    made_of = {name: set(names(each)) for name, each in expressions.items()}
    for name in TopologicalSorter(made_of).static_order():
        if name in expressions:
            found[name] = evaluate(expressions[name], found, len(starts))
    return found
