"""What the first boot has a node send, where its cluster has monitoring."""

import json
from pathlib import Path

import pytest
from node_root import NodeRoot, needs_namespaces

from trainshed.metrics import CLUSTER, INSTANCE

pytestmark = needs_namespaces

AGENT = "opt/aws/amazon-cloudwatch-agent/etc/amazon-cloudwatch-agent.json"
PROMETHEUS = "etc/trainshed/prometheus.yaml"
OURS, DCGM = "trainshed-exporter.service", "nvidia-dcgm-exporter.service"
SETTINGS = {"region": "us-west-2", "cluster": "Train", "scratch": False}


@pytest.fixture
def node(tmp_path: Path) -> NodeRoot:
    """A node of EC2 whose AMI has our exporter alone; systemctl says what it was told."""
    made = NodeRoot.make(tmp_path)
    made.write("var/lib/cloud/data/instance-id", "i-0123456789abcdef0\n")
    made.command("aws", "true")
    have_units(made, OURS)
    return made


def have_units(node: NodeRoot, *units: str, restart: str = "true") -> None:
    known = "|".join(f"'cat {unit}'" for unit in units)
    node.command(
        "systemctl",
        f'case "$*" in {known}) ;; cat*) exit 1 ;; *restart*) {restart} ;; esac\n'
        'echo "$*" >>/run/calls',
    )


def boot(node: NodeRoot, *, monitoring: bool) -> str:
    settings = {**SETTINGS, "monitoring": monitoring}
    node.write("etc/trainshed/first-boot.json", json.dumps(settings))
    done = node.program("first-boot")
    assert done.returncode == 0, done.stderr
    return done.stdout


def calls(node: NodeRoot) -> list[str]:
    lines = (node.path / "run/calls").read_text().splitlines()
    return [line for line in lines if line.startswith("--no-block")]


def test_exporters_and_the_agent_are_started_for_the_cluster(node: NodeRoot) -> None:
    said = boot(node, monitoring=True)

    assert calls(node) == [
        f"--no-block start {OURS}",
        "--no-block restart amazon-cloudwatch-agent.service",
    ]
    agent = json.loads((node.path / AGENT).read_text())
    assert agent["metrics"]["metrics_collected"]["mem"]["append_dimensions"] == {CLUSTER: "Train"}
    prometheus = agent["logs"]["metrics_collected"]["prometheus"]
    assert prometheus["log_group_name"] == "/trainshed/Train/metrics"
    assert prometheus["prometheus_config_path"] == f"/{PROMETHEUS}"
    [job] = json.loads((node.path / PROMETHEUS).read_text())["scrape_configs"]
    assert job["static_configs"] == [
        {
            "targets": ["127.0.0.1:9401"],
            "labels": {CLUSTER: "Train", INSTANCE: "i-0123456789abcdef0"},
        }
    ]
    assert "trainshed: metrics of Train are sent, of the node, trainshed-exporter.service" in said


def test_nvidias_exporter_is_read_where_the_ami_has_it(node: NodeRoot) -> None:
    have_units(node, OURS, DCGM)

    boot(node, monitoring=True)

    jobs = json.loads((node.path / PROMETHEUS).read_text())["scrape_configs"]
    assert [f"{each['job_name']}.service" for each in jobs] == [DCGM, OURS]
    assert calls(node)[0] == f"--no-block start {DCGM} {OURS}"


def test_a_node_without_monitoring_keeps_what_its_ami_sends(node: NodeRoot) -> None:
    boot(node, monitoring=False)

    assert not (node.path / AGENT).exists()
    assert not (node.path / PROMETHEUS).exists()


def test_a_node_takes_jobs_though_its_agent_does_not_start(node: NodeRoot) -> None:
    have_units(node, OURS, restart="echo no agent >&2; exit 5")

    said = boot(node, monitoring=True)

    assert (
        "WARNING: no metrics: systemctl restart amazon-cloudwatch-agent.service: no agent" in said
    )
    assert "are sent" not in said


def test_a_node_takes_jobs_though_a_template_is_missing(node: NodeRoot) -> None:
    (node.path / "etc/trainshed/monitoring/prometheus.json").unlink()

    said = boot(node, monitoring=True)

    assert "WARNING: no metrics: /etc/trainshed/monitoring/prometheus.json: is missing" in said


def test_a_node_takes_jobs_though_nothing_can_be_written(node: NodeRoot) -> None:
    (node.path / PROMETHEUS).mkdir()

    said = boot(node, monitoring=True)

    assert "WARNING: no metrics: [Errno 21] Is a directory" in said


def test_monitoring_needs_the_name_of_the_cluster(node: NodeRoot) -> None:
    node.write("etc/trainshed/first-boot.json", '{"region": "us-west-2", "monitoring": true}')

    done = node.program("first-boot")

    assert done.returncode == 1
    assert "cluster must be a text" in done.stderr
