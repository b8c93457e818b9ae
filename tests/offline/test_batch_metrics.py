"""Nodes of AWS Batch send their metrics while they run a job."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_bench import CommandBench, until
from command_line import Answer

from embedded_aws.embedded import EmbeddedAws
from trainshed.metrics import INSTANCE, NAMESPACE, accelerator_metrics

NAME = "TrainCluster"
FAULT = 'hardware_ecc_events_total{neuroncore="0",event_type="mem_ecc_uncorrected"}'
# An error that was not corrected, since the reading of the boot.
FAIL = f"sed -i 's/^{FAULT} 0/{FAULT} 1/' $EMBEDDED_AWS_NODE/run/exporters/*-exporter"
HELD = "while [ ! -e {folder}/end ]; do sleep 0.1; done"


@pytest.fixture
def nodes(job_aws: EmbeddedAws, job: Callable[..., Answer], tmp_path: Path) -> Iterator[list[str]]:
    """The instances of a job of two nodes, which have booted."""
    script = HELD.format(folder=tmp_path)
    done = job("submit", NAME, "--plain", "--nodes", "2", "--", "sh", "-c", script)
    assert done.code == 0, done.err
    until(lambda: len(booted(job_aws)) == 2, "the boots")
    yield booted(job_aws)
    (tmp_path / "end").touch()
    job("watch", done.out.strip())


def booted(aws: EmbeddedAws) -> list[str]:
    found = aws.client("ec2").describe_instances(
        Filters=[
            {"Name": "tag:trainshed:boot", "Values": ["ok"]},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
    )
    return [each["InstanceId"] for group in found["Reservations"] for each in group["Instances"]]


def has_sent(aws: EmbeddedAws, node: str) -> bool:
    """Whether a node has sent what its exporters answered: of a counter it then sends growth."""
    found = aws.client("cloudwatch").list_metrics(
        Namespace=NAMESPACE,
        MetricName=accelerator_metrics("neuron", "ecs").utilization.name,
        Dimensions=[{"Name": INSTANCE, "Value": node}],
    )
    return bool(found["Metrics"])


def shown(aws: EmbeddedAws, metric: str) -> list[float]:
    """The values that the dashboard has of a metric of the cluster."""
    cloudwatch = aws.client("cloudwatch")
    body = json.loads(cloudwatch.get_dashboard(DashboardName=f"{NAME}-us-west-2")["DashboardBody"])
    rows: list[list[Any]] = [
        row
        for widget in body["widgets"]
        for row in widget["properties"]["metrics"]
        if row[:2] == [NAMESPACE, metric]
    ]
    assert rows, metric
    end = datetime.now(UTC) + timedelta(minutes=1)
    queries = [
        {
            "Id": f"q{number}",
            "MetricStat": {
                "Metric": {
                    "Namespace": row[0],
                    "MetricName": row[1],
                    "Dimensions": [
                        {"Name": key, "Value": value}
                        for key, value in zip(row[2:-1:2], row[3:-1:2], strict=True)
                    ],
                },
                "Period": 3600,
                "Stat": row[-1].get("stat", "Maximum"),
            },
        }
        for number, row in enumerate(rows)
    ]
    found = cloudwatch.get_metric_data(
        MetricDataQueries=queries, StartTime=end - timedelta(hours=1), EndTime=end
    )["MetricDataResults"]
    return [value for each in found for value in each["Values"]]


def test_the_dashboard_shows_nodes_and_an_alarm_goes_off_by_a_fault(
    job_aws: EmbeddedAws, nodes: list[str]
) -> None:
    until(lambda: all(has_sent(job_aws, each) for each in nodes), "the first readings")
    assert shown(job_aws, "mem_used_percent")
    bench = CommandBench(job_aws)

    done = bench.wait(bench.send(FAIL, [nodes[0]]), nodes[0])

    assert done["Status"] == "Success", done
    # Judged are whole minutes.
    job_aws.let_pass(hours=0.05)
    [alarm] = job_aws.client("cloudwatch").describe_alarms(
        AlarmNames=[f"{NAME}-accelerator-fault"]
    )["MetricAlarms"]
    assert alarm["StateValue"] == "ALARM"
