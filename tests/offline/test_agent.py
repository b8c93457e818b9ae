"""Nodes of the embedded AWS send the metrics of the project, by the agent's own configuration."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from embedded_aws.embedded import EmbeddedAws
from trainshed.aws import Region
from trainshed.metrics import (
    CLUSTER,
    INSTANCE,
    METRICS_LOG_GROUP,
    NAMESPACE,
    accelerator_metrics,
    sent_metrics,
)
from trainshed.offline.agent import interval, send, write_configuration
from trainshed.offline.exporters import FOLDER, write_answers

NODE = "i-0123456789abcdef0"
FOLDER_OF_AGENT = "opt/aws/amazon-cloudwatch-agent"
AGENT = f"{FOLDER_OF_AGENT}/etc/amazon-cloudwatch-agent.json"
LOG = f"{FOLDER_OF_AGENT}/logs/amazon-cloudwatch-agent.log"
MINUTE = timedelta(minutes=1)


class Node:
    """The files of a node, whose cluster has the name of the test."""

    def __init__(self, root: Path, aws: EmbeddedAws, region: Region, cluster: str) -> None:
        self.root, self._aws, self._region, self.cluster = root, aws, region, cluster

    def send(self, *times: datetime) -> None:
        send(self.root, times or [datetime.now(UTC)], self._aws.client)

    def change(self, before: str, after: str) -> None:
        """Have the exporters answer otherwise."""
        for file in (self.root / FOLDER).glob("*exporter"):
            file.write_text(file.read_text().replace(before, after))

    def dimensions(self) -> dict[str, set[tuple[tuple[str, str], ...]]]:
        """The sets of dimensions of each metric of the cluster."""
        found: dict[str, set[tuple[tuple[str, str], ...]]] = {}
        listed = self._region.call(
            "cloudwatch",
            "list_metrics",
            Namespace=NAMESPACE,
            Dimensions=[{"Name": CLUSTER, "Value": self.cluster}],
        )
        for each in listed["Metrics"]:
            pairs = sorted((it["Name"], it["Value"]) for it in each["Dimensions"])
            found.setdefault(each["MetricName"], set()).add(tuple(pairs))
        return found

    def value(self, name: str, statistic: str) -> float | None:
        """The value of the cluster."""
        end = datetime.now(UTC) + timedelta(minutes=1)
        points = self._region.call(
            "cloudwatch",
            "get_metric_statistics",
            Namespace=NAMESPACE,
            MetricName=name,
            Dimensions=[{"Name": CLUSTER, "Value": self.cluster}],
            StartTime=end - timedelta(hours=1),
            EndTime=end,
            Period=3600,
            Statistics=[statistic],
        )["Datapoints"]
        return points[0][statistic] if points else None


@pytest.fixture
def region(clean_aws: EmbeddedAws) -> Region:
    return Region("us-west-2", clean_aws.client)


@pytest.fixture(params=["habana", "neuron", "nvidia"])
def accelerator(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def node(tmp_path: Path, clean_aws: EmbeddedAws, region: Region, accelerator: str) -> Node:
    cluster = f"Train-{tmp_path.name}"
    group = METRICS_LOG_GROUP.format(cluster=cluster)
    region.call("logs", "create_log_group", logGroupName=group)
    write_configuration(tmp_path, cluster, NODE)
    write_answers(tmp_path, {"efa": 2, accelerator: 2}, "ecs")
    return Node(tmp_path, clean_aws, region, cluster)


def test_each_metric_of_the_project_is_there_for_node_and_cluster_alone(
    node: Node, accelerator: str
) -> None:
    node.send()
    node.send()

    of_cluster = (CLUSTER, node.cluster)
    assert node.dimensions() == {
        each.name: {(of_cluster,), (of_cluster, (INSTANCE, NODE))}
        for each in sent_metrics(accelerator, "ec2", efa=True)
    }


def test_devices_of_a_node_are_one_metric(node: Node, accelerator: str) -> None:
    use = accelerator_metrics(accelerator, "ec2").utilization
    node.change(f'{use.name}{{gpu="1"}} 0', f'{use.name}{{gpu="1"}} 40')
    node.change(f'{use.name}{{device="1"}} 0', f'{use.name}{{device="1"}} 40')
    node.change(f'{use.name}{{neuroncore="1"}} 0', f'{use.name}{{neuroncore="1"}} 40')

    node.send()

    assert node.value(use.name, "Average") == 20
    assert node.value(use.name, "Maximum") == 40


def test_of_a_counter_its_growth_is_sent(node: Node) -> None:
    node.change('efa_tx_bytes{device="0"} 0', 'efa_tx_bytes{device="0"} 1000')
    node.send()
    assert node.value("efa_tx_bytes", "Sum") is None

    node.change('efa_tx_bytes{device="0"} 1000', 'efa_tx_bytes{device="0"} 1700')
    node.send()

    assert node.value("efa_tx_bytes", "Sum") == 700


@pytest.mark.parametrize("accelerator", ["nvidia"], indirect=True)
def test_a_reading_is_of_each_time_and_a_counter_grew_before_the_first(node: Node) -> None:
    now = datetime.now(UTC)
    node.send(now - 4 * MINUTE)

    node.change('efa_tx_bytes{device="0"} 0', 'efa_tx_bytes{device="0"} 500')
    node.send(*(now - MINUTE * ago for ago in (3, 2, 1)))

    assert node.value("DCGM_FI_DEV_GPU_UTIL", "SampleCount") == 2 * 4
    assert node.value("mem_used_percent", "SampleCount") == 4
    assert node.value("efa_tx_bytes", "SampleCount") == 2 * 3
    assert node.value("efa_tx_bytes", "Sum") == 500
    assert node.value("efa_tx_bytes", "Maximum") == 500


@pytest.mark.parametrize("accelerator", ["nvidia"], indirect=True)
def test_more_is_sent_at_once_than_a_call_takes(node: Node) -> None:
    now = datetime.now(UTC)
    write_answers(node.root, {"nvidia": 16, "efa": 32}, "ecs")

    # Ten values of memory and disks a minute, and more than 48 events.
    node.send(*(now - timedelta(seconds=10 * ago) for ago in reversed(range(300))))

    assert node.value("DCGM_FI_DEV_GPU_UTIL", "SampleCount") == 16 * 300
    assert node.value("mem_used_percent", "SampleCount") == 300


@pytest.mark.parametrize("accelerator", ["nvidia"], indirect=True)
def test_what_an_exporter_garbles_is_in_the_log_and_the_rest_is_sent(node: Node) -> None:
    node.change('FB_USED{gpu="1"} 0', 'FB_USED{gpu="1"} NaN')
    node.send()
    assert node.value("DCGM_FI_DEV_FB_USED", "SampleCount") == 1

    node.change('FB_USED{gpu="1"} NaN', 'FB_USED{gpu="1"} [N/A]')
    node.send()

    assert node.value("DCGM_FI_DEV_FB_USED", "SampleCount") == 1
    assert node.value("mem_used_percent", "SampleCount") == 2
    # The other exporter tells what its counters grew by.
    assert node.value("efa_tx_bytes", "SampleCount") == 2
    assert "DCGM_FI_DEV_FB_USED: [N/A] is no number" in (node.root / LOG).read_text()


@pytest.mark.parametrize("accelerator", ["nvidia"], indirect=True)
@pytest.mark.parametrize(("text", "said"), [("{", "is no JSON"), ("{}", "lacks 'metrics'")])
def test_an_agent_without_a_whole_configuration_does_not_run(
    node: Node, text: str, said: str
) -> None:
    (node.root / AGENT).write_text(text)

    assert interval(node.root) is None
    assert said in (node.root / LOG).read_text()


@pytest.mark.parametrize("accelerator", ["nvidia"], indirect=True)
def test_the_agent_sends_as_often_as_its_configuration_says(node: Node) -> None:
    assert interval(node.root) == MINUTE

    text = (node.root / AGENT).read_text()
    (node.root / AGENT).write_text(text.replace('_interval": 60', '_interval": 300'))
    assert interval(node.root) == 5 * MINUTE

    (node.root / AGENT).unlink()
    assert interval(node.root) is None


@pytest.mark.parametrize("accelerator", ["nvidia"], indirect=True)
@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("metrics.efa", {}, "metrics: the agent does not know efa"),
        ("metrics.append_dimensions.Cluster", "Train", "the agent does not know Cluster"),
        ("metrics.metrics_collected.disk.drop_original_metrics", [], "must not be empty"),
        ("logs.metrics_collected.prometheus.interval", 3, "the agent does not know interval"),
    ],
)
def test_a_configuration_that_the_agent_refuses_sends_nothing(
    node: Node, path: str, value: object, said: str
) -> None:
    file = node.root / AGENT
    document: dict[str, Any] = json.loads(file.read_text())
    *folders, last = path.split(".")
    section = document
    for key in folders:
        section = section[key]
    section[last] = value
    file.write_text(json.dumps(document))

    assert interval(node.root) is None
    node.send()

    assert not node.dimensions()
    assert said in (node.root / LOG).read_text()
