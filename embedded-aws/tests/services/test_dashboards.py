"""Dashboards are checked as CloudWatch does it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

GOOD = {
    "type": "metric",
    "width": 12,
    "properties": {"region": "us-west-2", "metrics": [["trainshed", "Nodes", {"stat": "Sum"}]]},
}


@pytest.fixture
def put(client: Callable[..., Any], name: str) -> Callable[..., Any]:
    def run(**body: Any) -> Any:
        return client("cloudwatch").put_dashboard(
            DashboardName=name, DashboardBody=json.dumps(body)
        )

    return run


def test_a_dashboard_is_stored_and_deleted(
    client: Callable[..., Any], put: Callable[..., Any], refusal: Any, name: str
) -> None:
    cloudwatch = client("cloudwatch")
    answer = put(widgets=[GOOD])

    found = cloudwatch.get_dashboard(DashboardName=name)
    cloudwatch.delete_dashboards(DashboardNames=[name])

    assert answer["DashboardValidationMessages"] == []
    assert json.loads(found["DashboardBody"]) == {"widgets": [GOOD]}
    assert found["DashboardArn"] == f"arn:aws:cloudwatch::123456789012:dashboard/{name}"
    gone = refusal(cloudwatch.get_dashboard, DashboardName=name)
    assert (gone.code, gone.message) == ("ResourceNotFound", f"Dashboard {name} does not exist")


def test_a_dashboard_is_the_same_in_all_regions(
    client: Callable[..., Any], put: Callable[..., Any], refusal: Any, name: str
) -> None:
    here, there = client("cloudwatch"), client("cloudwatch", "eu-central-1")
    put(widgets=[GOOD])

    there.put_dashboard(DashboardName=name, DashboardBody='{"widgets": []}')
    found = here.get_dashboard(DashboardName=name)["DashboardBody"]
    listed = here.list_dashboards(DashboardNamePrefix=name)["DashboardEntries"]
    there.delete_dashboards(DashboardNames=[name])

    assert (found, [each["DashboardName"] for each in listed]) == ('{"widgets": []}', [name])
    assert refusal(here.get_dashboard, DashboardName=name).code == "ResourceNotFound"


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        pytest.param(
            {"properties": {"region": "us-west-2"}},
            [
                ("/widgets/0/properties", "Should have required property 'metrics'"),
                (
                    "/widgets/0/properties",
                    "The metric widget should have specified a region and a data source or an "
                    "alarm annotation",
                ),
                ("/widgets/0/properties", "Should have required property 'annotations'"),
            ],
            id="no metrics",
        ),
        pytest.param(
            {"properties": {"metrics": [["trainshed", "Nodes"]]}},
            [
                (
                    "/widgets/0/properties",
                    "The metric widget should have specified a region and a data source or an "
                    "alarm annotation",
                )
            ],
            id="no region",
        ),
        pytest.param(
            {"properties": {"region": "us-west-2", "metrics": ["Nodes"]}},
            [
                ("/widgets/0/properties/metrics/0", "Should be array"),
                (
                    "/widgets/0/properties/metrics/0",
                    'Field "metrics" has to be an array of array of strings, with an optional '
                    "metricRenderer object as last element",
                ),
            ],
            id="a row that is none",
        ),
        pytest.param({"width": 25}, [("/widgets/0/width", "Should be <= 24")], id="too wide"),
        pytest.param({"height": 0}, [("/widgets/0/height", "Should be >= 1")], id="flat"),
        pytest.param({"x": 1.5}, [("/widgets/0/x", "Should be integer")], id="half a column"),
        pytest.param(
            {"type": "graph"},
            [("/widgets/0/type", "Should be equal to one of the allowed values")],
            id="another type",
        ),
        pytest.param(
            {"type": "text", "properties": {}},
            [("/widgets/0/properties", "Should have required property 'markdown'")],
            id="no text",
        ),
        pytest.param(
            {"type": "alarm", "properties": {}},
            [("/widgets/0/properties", "Should have required property 'alarms'")],
            id="no alarms",
        ),
    ],
)
def test_a_wrong_widget_is_refused_with_its_path(
    put: Callable[..., Any],
    refusal: Any,
    changes: dict[str, Any],
    errors: list[tuple[str, str]],
) -> None:
    refused = refusal(put, widgets=[GOOD | changes])

    head, _, listed = refused.message.partition("\n")
    assert refused.code == "InvalidParameterInput"
    assert head.startswith("The dashboard body is invalid, there ")
    assert [(each["dataPath"], each["message"]) for each in json.loads(listed)] == errors


@pytest.mark.parametrize(
    ("body", "said"), [("{", "not a valid JSON"), ("[]", "required property 'widgets'")]
)
def test_a_body_without_widgets_is_refused(
    client: Callable[..., Any], refusal: Any, name: str, body: str, said: str
) -> None:
    cloudwatch = client("cloudwatch")

    refused = refusal(cloudwatch.put_dashboard, DashboardName=name, DashboardBody=body)

    assert said in refused.message


def test_a_dashboard_has_at_most_500_widgets(put: Callable[..., Any], refusal: Any) -> None:
    assert "more than 500" in refusal(put, widgets=[GOOD] * 501).message
