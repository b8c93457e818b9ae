"""Queries of Metrics Insights: a series of all metrics that have some dimensions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

SCHEMA = 'SCHEMA("my/disks", host, disk)'


@pytest.fixture
def cloudwatch(client: Callable[..., Any]) -> Any:
    return client("cloudwatch")


@pytest.fixture
def ask(cloudwatch: Any, name: str) -> Callable[..., list[float]]:
    """Send the space of some disks under a metric's name, and ask about it, as NAME."""
    now = datetime.now(UTC)
    disks = {("a", "1"): 10.0, ("a", "2"): 20.0, ("b", "1"): 40.0}
    data = [
        {
            "Dimensions": [{"Name": "host", "Value": host}, {"Name": "disk", "Value": disk}],
            "Value": v,
        }
        for (host, disk), v in disks.items()
    ]
    # One of the same host, with other dimensions.
    data.append({"Dimensions": [{"Name": "host", "Value": "a"}], "Value": 1000.0})
    cloudwatch.put_metric_data(
        Namespace="my/disks",
        MetricData=[{"MetricName": name, "Timestamp": now, **each} for each in data],
    )

    def run(query: str, *math: str) -> list[float]:
        queries = [
            {"Id": "asked", "Expression": query.replace("NAME", name), "Period": 60},
            *({"Id": "math", "Expression": each} for each in math),
        ]
        found = cloudwatch.get_metric_data(
            StartTime=now - timedelta(minutes=5),
            EndTime=now + timedelta(minutes=1),
            MetricDataQueries=queries,
        )["MetricDataResults"]
        values: list[float] = found[-1]["Values"]
        return values

    return run


@pytest.mark.parametrize(
    ("query", "value"),
    [
        (f"SELECT SUM(NAME) FROM {SCHEMA}", 70),
        (f"SELECT SUM(NAME) FROM {SCHEMA} WHERE host = 'a'", 30),
        (f"select max(NAME) from {SCHEMA} where host='a'", 20),
        (f"SELECT AVG(NAME) FROM {SCHEMA} WHERE host = 'a' AND disk = '2'", 20),
        (f"SELECT COUNT(NAME) FROM {SCHEMA}", 3),
        ('SELECT SUM(NAME) FROM SCHEMA("my/disks", host)', 1000),
    ],
)
def test_a_query_is_of_the_metrics_that_have_its_dimensions(
    ask: Callable[..., list[float]], query: str, value: float
) -> None:
    assert ask(query) == [value]


def test_nothing_that_matches_is_no_data(ask: Callable[..., list[float]]) -> None:
    assert ask(f"SELECT SUM(NAME) FROM {SCHEMA} WHERE host = 'c'") == []


def test_metric_math_takes_a_query(ask: Callable[..., list[float]]) -> None:
    assert ask(f"SELECT SUM(NAME) FROM {SCHEMA}", "100 * asked / 140") == [50]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"SELECT SUM(NAME) FROM {SCHEMA} GROUP BY host", "does not know all of the query"),
        ('SELECT SUM(NAME) FROM "my/disks"', "does not know all of the query"),
        (f"SELECT SUM(NAME) FROM {SCHEMA} WHERE host != 'a'", "does not know all of the query"),
        (f"SELECT P99(NAME) FROM {SCHEMA}", "does not know all of the query"),
        (f"SELECT SUM(NAME) FROM {SCHEMA} WHERE rack = 'a'", "SCHEMA has no rack"),
    ],
)
def test_what_is_not_known_is_refused(
    ask: Callable[..., list[float]], query: str, why: str
) -> None:
    with pytest.raises(ClientError, match=why):
        ask(query)


def test_a_query_has_a_period(cloudwatch: Any) -> None:
    with pytest.raises(ClientError, match="Period must not be null"):
        cloudwatch.get_metric_data(
            StartTime=datetime.now(UTC) - timedelta(hours=1),
            EndTime=datetime.now(UTC),
            MetricDataQueries=[{"Id": "asked", "Expression": f"SELECT SUM(free) FROM {SCHEMA}"}],
        )
