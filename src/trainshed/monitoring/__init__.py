"""What a cluster is watched by: the widgets of its dashboard, its alarms, its rules for events."""

from trainshed.monitoring.dashboard import dashboard_name, dashboard_url, widget_body
from trainshed.monitoring.model import (
    PARAMETER,
    QUEUE,
    RULE,
    SCALING_GROUP,
    Alarm,
    EventRule,
    Line,
    Missing,
    MonitoringPlan,
    TimedMessage,
    Widget,
)
from trainshed.monitoring.watching import monitoring_of

__all__ = [
    "PARAMETER",
    "QUEUE",
    "RULE",
    "SCALING_GROUP",
    "Alarm",
    "EventRule",
    "Line",
    "Missing",
    "MonitoringPlan",
    "TimedMessage",
    "Widget",
    "dashboard_name",
    "dashboard_url",
    "monitoring_of",
    "widget_body",
]
