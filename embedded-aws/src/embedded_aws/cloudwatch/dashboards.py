"""Dashboards, whose bodies CloudWatch checks, and which are an account's in all regions.

CloudWatch API reference, PutDashboard: "All dashboards in your account are global, not
region-specific." PutDashboard and "Dashboard Body Structure and Syntax": the grid has 24 columns,
and a widget of metrics has a region and metrics, or annotations. The messages are those that
aws-samples/aws-eda-slurm-cluster#116 and pulumi/pulumi#13059 show; of those about numbers and about
what is missing elsewhere, the words are inferred from these.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from embedded_aws.actions import Call, Refusal, action

# Where moto, which has them by region, keeps those of all regions.
_HOME = "us-east-1"
_MOST_WIDGETS = 500
_RANGES = {"x": (0, 23), "y": (0, None), "width": (1, 24), "height": (1, 1000)}
_TYPES = ("alarm", "chart", "custom", "explorer", "log", "metric", "text", "trace")
_Error = tuple[str, str]


@action("cloudwatch", "PutDashboard")
def put_dashboard(call: Call) -> Any:
    """Check a dashboard and store it."""
    errors = list(_errors(call.params["DashboardBody"]))
    if errors:
        shown = [{"dataPath": path, "message": message} for path, message in errors]
        count = f"are {len(errors)} validation errors" if errors[1:] else "is 1 validation error"
        raise Refusal(
            "InvalidParameterInput",
            f"The dashboard body is invalid, there {count}:\n{json.dumps(shown, indent=2)}",
        )
    return _at_home(call)


@action("cloudwatch", "DeleteDashboards", "ListDashboards")
def _at_home(call: Call) -> Any:
    """Answer as moto does where all dashboards are."""
    call.response.region = _HOME
    return call.moto()


@action("cloudwatch", "GetDashboard")
def get_dashboard(call: Call) -> Any:
    """Return a dashboard."""
    name = call.params["DashboardName"]
    found = replace(call, region=_HOME).backend("cloudwatch").get_dashboard(name)
    if found is None:
        raise Refusal("ResourceNotFound", f"Dashboard {name} does not exist")
    return {
        "DashboardArn": found.arn,
        "DashboardBody": found.body,
        "DashboardName": found.name,
    }


def _errors(body: str) -> Iterator[_Error]:
    try:
        found = json.loads(body)
    except ValueError:
        yield "", "The dashboard body is not a valid JSON"
        return
    widgets = found.get("widgets") if isinstance(found, dict) else None
    if not isinstance(widgets, list):
        yield "", "Should have required property 'widgets'"
        return
    if len(widgets) > _MOST_WIDGETS:
        yield "/widgets", f"Should NOT have more than {_MOST_WIDGETS} items"
    for number, widget in enumerate(widgets):
        yield from _errors_of_widget(widget, f"/widgets/{number}")


def _errors_of_widget(widget: Mapping[str, Any], path: str) -> Iterator[_Error]:
    for name, (least, most) in _RANGES.items():
        value = widget.get(name, least)
        if not isinstance(value, int):
            yield f"{path}/{name}", "Should be integer"
        elif value < least:
            yield f"{path}/{name}", f"Should be >= {least}"
        elif most is not None and value > most:
            yield f"{path}/{name}", f"Should be <= {most}"
    kind = widget.get("type")
    if kind not in _TYPES:
        yield f"{path}/type", "Should be equal to one of the allowed values"
    properties, inner = widget.get("properties", {}), f"{path}/properties"
    if kind == "metric":
        yield from _errors_of_metrics(properties, inner)
    elif kind == "text" and "markdown" not in properties:
        yield inner, "Should have required property 'markdown'"
    elif kind == "alarm" and "alarms" not in properties:
        yield inner, "Should have required property 'alarms'"


def _errors_of_metrics(properties: Mapping[str, Any], path: str) -> Iterator[_Error]:
    metrics, annotations = properties.get("metrics"), properties.get("annotations")
    if metrics is None and annotations is None:
        yield path, "Should have required property 'metrics'"
    if not (metrics and "region" in properties) and not annotations:
        yield (
            path,
            "The metric widget should have specified a region and a data source or an alarm "
            "annotation",
        )
    if metrics is None and annotations is None:
        yield path, "Should have required property 'annotations'"
    for number, row in enumerate(metrics or ()):
        if not isinstance(row, list):
            yield f"{path}/metrics/{number}", "Should be array"
        if not (isinstance(row, list) and all(isinstance(each, str) for each in row[:-1])):
            yield (
                f"{path}/metrics/{number}",
                'Field "metrics" has to be an array of array of strings, with an optional '
                "metricRenderer object as last element",
            )
