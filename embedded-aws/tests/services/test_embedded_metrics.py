"""CloudWatch Logs makes metrics of log events in the embedded metric format."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

Client = Callable[..., Any]
Write = Callable[..., None]
TWO = [["Cluster"], ["Cluster", "InstanceId"]]


@pytest.fixture
def write(client: Client, name: str) -> Iterator[Write]:
    """Write messages into a log group of the test's name."""
    logs = client("logs")
    logs.create_log_group(logGroupName=name)
    logs.create_log_stream(logGroupName=name, logStreamName="s")

    def put(*messages: object) -> None:
        events = [
            {
                "timestamp": int(time.time() * 1000),
                "message": each if isinstance(each, str) else json.dumps(each),
            }
            for each in messages
        ]
        logs.put_log_events(logGroupName=name, logStreamName="s", logEvents=events)

    yield put
    logs.delete_log_group(logGroupName=name)


def document(name: str, **changes: Any) -> dict[str, Any]:
    """A document with the use of two devices of a node of a cluster."""
    directive = {
        "Namespace": changes.pop("namespace", name),
        "Dimensions": changes.pop("dimensions", TWO),
        "Metrics": [{"Name": "Use", "Unit": changes.pop("unit", "Percent")}],
    }
    at = changes.pop("at", int(time.time() * 1000))
    return {
        "_aws": {"Timestamp": at, "CloudWatchMetrics": [directive]},
        "Cluster": "Train",
        "InstanceId": "i-1",
        "gpu": "0",
        "Use": [10, 30],
        **changes,
    }


def datapoints(
    client: Client, namespace: str, metric: str = "Use", **dimensions: str
) -> list[dict[str, Any]]:
    end = datetime.now(UTC) + timedelta(minutes=1)
    found: list[dict[str, Any]] = client("cloudwatch").get_metric_statistics(
        Namespace=namespace,
        MetricName=metric,
        Dimensions=[{"Name": key, "Value": value} for key, value in dimensions.items()],
        StartTime=end - timedelta(hours=1),
        EndTime=end,
        Period=3600,
        Statistics=["Average", "Maximum", "SampleCount"],
    )["Datapoints"]
    return found


def test_each_set_of_dimensions_becomes_a_metric(client: Client, write: Write, name: str) -> None:
    write(document(name), document(name, InstanceId="i-2", Use=80))

    [cluster] = datapoints(client, name, Cluster="Train")
    [node] = datapoints(client, name, Cluster="Train", InstanceId="i-1")

    assert (cluster["Average"], cluster["Maximum"], cluster["SampleCount"]) == (40, 80, 3)
    assert (node["Average"], node["Maximum"]) == (20, 30)
    assert not datapoints(client, name, InstanceId="i-1")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"Use": "much"}, id="no number"),
        pytest.param({"Use": True}, id="a truth"),
        pytest.param({"Cluster": 7}, id="a dimension that is no text"),
        pytest.param({"dimensions": [["Cluster", "Zone"]]}, id="a dimension that is not there"),
        pytest.param({"at": 1}, id="too old"),
        pytest.param({"at": 10**30}, id="no time"),
        pytest.param({"Use": [1] * 101}, id="too many values"),
        pytest.param({"Use": 10**400}, id="too large"),
        pytest.param({"namespace": []}, id="a namespace that is no text"),
        pytest.param({"unit": []}, id="a unit that is no text"),
    ],
)
def test_a_document_that_breaks_a_rule_is_a_log_event_and_counted(
    client: Client, write: Write, name: str, changes: dict[str, Any]
) -> None:
    write(document(name, **changes))

    assert not datapoints(client, name, Cluster="Train")
    [counted] = datapoints(client, "AWS/Logs", "EMFValidationErrors", LogGroupName=name)
    assert counted["SampleCount"] == 1
    assert len(client("logs").filter_log_events(logGroupName=name)["events"]) == 1


def test_other_events_are_no_metrics(client: Client, write: Write, name: str) -> None:
    deep = '{"a":' * 20_000
    write("{no json", '{"Use": 3}', "step 10", '{"_aws": 3}', '["_aws"]', deep)

    assert not datapoints(client, "AWS/Logs", "EMFValidationErrors", LogGroupName=name)


def test_an_alarm_goes_by_them(client: Client, write: Write, name: str, moment: datetime) -> None:
    cloudwatch = client("cloudwatch")
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace=name,
        MetricName="Use",
        Dimensions=[{"Name": "Cluster", "Value": "Train"}],
        Statistic="Maximum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=20,
        ComparisonOperator="GreaterThanThreshold",
    )

    write(document(name, at=int((moment - timedelta(minutes=1)).timestamp() * 1000)))

    [alarm] = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    assert alarm["StateValue"] == "ALARM"
    cloudwatch.delete_alarms(AlarmNames=[name])
