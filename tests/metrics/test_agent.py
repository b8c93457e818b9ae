"""The configuration of what sends metrics on nodes says what the one statement of them says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from monitoring_files import FOLDER, monitoring_files

from trainshed.metrics import CLUSTER, INSTANCE, NODE_METRICS, Metric, sent_metrics
from trainshed.metrics.agent import exported
from trainshed.metrics.exporters import DCGM, EXPORTERS, OURS, Exporter
from trainshed.nodes.cells import ACCELERATORS, AGENTS

ROOT = Path(__file__).parents[2]


@pytest.fixture
def agent() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / FOLDER / "agent.json").read_text())
    return found


@pytest.fixture
def prometheus() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / FOLDER / "prometheus.json").read_text())
    return found


def test_the_files_of_the_amis_are_those_of_this_statement() -> None:
    """If this fails: make schema."""
    assert {
        path.name: path.read_text(encoding="utf-8") for path in (ROOT / FOLDER).iterdir()
    } == monitoring_files()


def test_nodes_send_exactly_the_metrics_of_the_statement(agent: dict[str, Any]) -> None:
    collected = agent["metrics"]["metrics_collected"].values()
    declared = agent["logs"]["metrics_collected"]["prometheus"]["emf_processor"]
    stated = {
        each
        for accelerator in ACCELERATORS
        for orchestrator in AGENTS
        for each in sent_metrics(accelerator, orchestrator, efa=True)
    }

    assert sorted(
        [name for section in collected for name in section["measurement"]]
        + [
            name.strip("^$")
            for each in declared["metric_declaration"]
            for name in each["metric_selectors"]
        ]
    ) == sorted(each.name for each in stated)
    assert declared["metric_unit"] == {
        each.name: each.unit for each in stated - set(NODE_METRICS.all)
    }


def test_each_metric_is_sent_for_the_node_and_for_the_cluster_alone(agent: dict[str, Any]) -> None:
    dimensions = [[CLUSTER], [CLUSTER, INSTANCE]]
    processor = agent["logs"]["metrics_collected"]["prometheus"]["emf_processor"]
    collected = agent["metrics"]["metrics_collected"]

    assert agent["metrics"]["aggregation_dimensions"] == dimensions
    assert {json.dumps(each["dimensions"]) for each in processor["metric_declaration"]} == {
        json.dumps(dimensions)
    }
    # Those of disks have the file system beside; that of memory is the node's already, and the
    # agent would send nothing in the place of what it drops.
    assert collected["disk"]["drop_original_metrics"] == collected["disk"]["measurement"]
    assert "drop_original_metrics" not in collected["mem"]


@pytest.mark.parametrize("exporter", EXPORTERS, ids=lambda each: str(each.name))
def test_what_is_not_sent_is_not_kept(exporter: Exporter, prometheus: dict[str, Any]) -> None:
    for metric in exported(exporter):
        assert keeps(prometheus, exporter, metric.name, **labels_of(metric))
    assert not keeps(prometheus, exporter, "up")
    assert not keeps(prometheus, exporter, "process_cpu_seconds_total")


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("hardware_ecc_events_total", {"event_type": "mem_ecc_corrected"}),
        ("neuron_runtime_memory_used_bytes", {"memory_location": "host"}),
        ("execution_errors_total", {"error_type": "numerical"}),
    ],
)
def test_series_that_would_blur_a_metric_are_not_kept(
    name: str, labels: dict[str, str], prometheus: dict[str, Any]
) -> None:
    assert not keeps(prometheus, OURS, name, **labels)


def test_no_counter_of_nvidias_exporter_is_one_that_profilers_need() -> None:
    fields = [line.split(",")[0] for line in monitoring_files()["dcgm-counters.csv"].splitlines()]

    assert fields[1:] == [each.name for each in exported(DCGM)]
    assert not [each for each in fields if "_PROF_" in each]


def labels_of(metric: Metric) -> dict[str, str]:
    """A label that the metric wants, with one of its values."""
    if not metric.label:
        return {}
    return {metric.label[0]: metric.label[1].replace("(mem|sram)", "sram")}


def keeps(prometheus: dict[str, Any], exporter: Exporter, name: str, **labels: str) -> bool:
    """Whether Prometheus' rule keeps a series (its documentation, "relabel_config")."""
    [job] = [each for each in prometheus["scrape_configs"] if each["job_name"] == exporter.name]
    [rule] = job["metric_relabel_configs"]
    values = {"__name__": name, **labels}
    joined = ";".join(values.get(label, "") for label in rule["source_labels"])
    return bool(re.fullmatch(rule["regex"], joined))
