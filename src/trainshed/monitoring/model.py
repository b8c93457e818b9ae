"""What a cluster is watched by, as values: widgets of a dashboard, alarms, rules and messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from trainshed.metrics import Metric, Statistic

# What stands in a pattern for the ARN of the cluster's queue; in a dimension for the name that EKS
# gives the nodes' Auto Scaling group; in a dimension, before the name of a rule, for the name that
# CloudFormation gives it, and before the name of a parameter of Parameter Store, for what it holds.
QUEUE, SCALING_GROUP, RULE, PARAMETER = "$queue", "$scaling-group", "$rule ", "$parameter "


_FUNCTIONS: Mapping[str, str] = {
    Statistic.AVERAGE: "AVG",
    Statistic.MAXIMUM: "MAX",
    Statistic.MINIMUM: "MIN",
    Statistic.SUM: "SUM",
}


class Missing(StrEnum):
    """How an alarm takes periods without data, by CloudWatch's words."""

    NOT_BREACHING = "notBreaching"
    """They are well: the metric is there only when something is wrong, or while jobs run."""
    IGNORE = "ignore"
    """The alarm stays as it is: data come late, or in parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A metric, or what an expression makes of other lines.

    Attributes:
        id: by which expressions name it.
        label: for people.
        metric: None for an expression.
        dimensions: values of the metric's dimensions, by name; one that is left out has any value.
        statistic: other than the metric's own; None for that.
        expression: metric math; None for a metric.
        shown: it is drawn; others are there for expressions.
    """

    id: str
    label: str
    metric: Metric | None = None
    dimensions: Mapping[str, str] = field(default_factory=dict)
    statistic: str | None = None
    expression: str | None = None
    shown: bool = True

    @property
    def query(self) -> str | None:
        """A query of Metrics Insights for all values of a dimension; None where each has one.

        CloudWatch user guide, "Use Metrics Insights queries with metric math".
        """
        if self.metric is None or len(self.dimensions) == len(self.metric.dimensions):
            return None
        where = " AND ".join(f"{name} = '{value}'" for name, value in self.dimensions.items())
        schema = ", ".join((f'"{self.metric.namespace}"', *self.metric.dimensions))
        function = _FUNCTIONS[self.statistic or self.metric.statistic]
        return f"SELECT {function}({self.metric.name}) FROM SCHEMA({schema}) WHERE {where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """A graph of the dashboard.

    Attributes:
        title: what it shows, with its unit.
        lines: of the graph.
        limit: value and name of a horizontal line; None for none.
        period: of each data point, in seconds.
    """

    title: str
    lines: tuple[Line, ...]
    limit: tuple[float, str] | None = None
    period: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """An alarm of CloudWatch.

    Attributes:
        name: after the cluster's name and a hyphen.
        says: what is wrong, and what to do; e-mails show it.
        lines: what it looks at, of which the last one is compared.
        above: it goes off at values above this.
        period: of each data point, in seconds.
        periods: how many of the last periods it looks at.
        points: how many of them must be above.
        missing: how it takes periods without data.
    """

    name: str
    says: str
    lines: tuple[Line, ...]
    above: float
    period: int
    periods: int
    points: int
    missing: Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule:
    """A rule of EventBridge, whose events are counted, and sent to people if they are told.

    Attributes:
        name: unique in the cluster.
        description: for people.
        pattern: of the events.
        paths: what `says` takes from an event, by name.
        says: the message for people; None where events are counted only.
    """

    name: str
    description: str
    pattern: Mapping[str, Any]
    paths: Mapping[str, str] = field(default_factory=dict)
    says: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedMessage:
    """A message to people at a time that is known, if they are told.

    Attributes:
        name: unique in the cluster.
        at: when, in UTC.
        subject: of the message.
        says: the message.
    """

    name: str
    at: datetime
    subject: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringPlan:
    """The dashboard, the alarms, the rules and the messages of a cluster.

    Attributes:
        widgets: of the dashboard, in its order.
        alarms: of the cluster.
        rules: for events.
        messages: at times that are known.
    """

    widgets: tuple[Widget, ...]
    alarms: tuple[Alarm, ...]
    rules: tuple[EventRule, ...]
    messages: tuple[TimedMessage, ...]

    @property
    def alarm_metrics(self) -> int:
        """How many metrics the alarms look at, by which CloudWatch bills them."""
        return sum(line.metric is not None for alarm in self.alarms for line in alarm.lines)
