"""The dashboard of a cluster, as CloudWatch takes it.

CloudWatch API reference, "Dashboard Body Structure and Syntax".
"""

from typing import Any

from trainshed.monitoring.model import Line, Widget

_COLUMNS, _WIDTH, _HEIGHT = 24, 8, 6


def widget_body(widget: Widget, number: int, region: str) -> dict[str, Any]:
    """Return a widget as the body of a dashboard has it.

    Args:
        widget: the graph.
        number: its place on the dashboard, from 0.
        region: of its metrics.
    """
    row, column = divmod(number, _COLUMNS // _WIDTH)
    properties: dict[str, Any] = {
        "title": widget.title,
        "region": region,
        "period": widget.period,
        "metrics": [_row(line) for line in widget.lines],
        "yAxis": {"left": {"min": 0}},
    }
    if widget.limit:
        value, label = widget.limit
        properties["annotations"] = {"horizontal": [{"value": value, "label": label}]}
    return {
        "type": "metric",
        "x": column * _WIDTH,
        "y": row * _HEIGHT,
        "width": _WIDTH,
        "height": _HEIGHT,
        "properties": properties,
    }


def _row(line: Line) -> list[Any]:
    """Return a line as an entry of `metrics`."""
    settings: dict[str, Any] = {"id": line.id}
    if line.label:
        settings["label"] = line.label
    if not line.shown:
        settings["visible"] = False
    if line.metric is None or line.query:
        return [{**settings, "expression": line.query or line.expression}]
    dimensions = [text for pair in line.dimensions.items() for text in pair]
    settings["stat"] = line.statistic or line.metric.statistic
    return [line.metric.namespace, line.metric.name, *dimensions, settings]


def dashboard_name(cluster: str, region: str) -> str:
    """Return the name of a cluster's dashboard.

    CloudWatch API reference, PutDashboard: "All dashboards in your account are global, not
    region-specific", and clusters of two regions may have one name.
    """
    return f"{cluster}-{region}"


def dashboard_url(cluster: str, region: str) -> str:
    """Return where people see a cluster's dashboard, in the console."""
    return (
        f"https://{region}.console.aws.amazon.com/cloudwatch/home"
        f"?region={region}#dashboards:name={dashboard_name(cluster, region)}"
    )
