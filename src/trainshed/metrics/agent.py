"""The configuration of what sends metrics on nodes, made from the one statement of the metrics.

`scripts/monitoring_files.py` writes it into `packer/files/etc/trainshed/monitoring`; the first boot
puts the cluster's name and the instance's id in the place of `{cluster}` and `{instance}`.

CloudWatch user guide, "Manually create or edit the CloudWatch agent configuration file": the `disk`
and `mem` sections, `aggregation_dimensions` and `drop_original_metrics`. The agent makes a roll-up
only of fewer dimensions than a metric has, so that of `mem`, which is the node's already, must not
be dropped (`ProcessRollup` of its source). "Set up and configure Prometheus metrics collection on
Amazon EC2 instances": the `prometheus` section, which writes events in the embedded metric format
into a log group. The agent sends what a counter grew by.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainshed.metrics.accelerators import accelerator_metrics
from trainshed.metrics.efa import EFA_METRICS
from trainshed.metrics.exporters import DCGM, EXPORTERS, Exporter
from trainshed.metrics.metric import CLUSTER, INSTANCE, NAMESPACE, Metric
from trainshed.metrics.node import NODE_METRICS
from trainshed.metrics.sent import METRICS_LOG_GROUP
from trainshed.nodes.cells import ACCELERATORS, AGENTS
from trainshed.nodes.folders import SCRATCH

_SECONDS = 60
_DIMENSIONS = [[CLUSTER], [CLUSTER, INSTANCE]]
_NAME = "{cluster}"


def agent_configuration() -> dict[str, Any]:
    """Return the configuration of the CloudWatch agent."""
    of_cluster = {"append_dimensions": {CLUSTER: _NAME}}
    disk = [NODE_METRICS.disk.name, NODE_METRICS.inodes.name]
    return {
        "agent": {"metrics_collection_interval": _SECONDS, "run_as_user": "root"},
        "metrics": {
            "namespace": NAMESPACE,
            "append_dimensions": {INSTANCE: "${aws:InstanceId}"},
            "aggregation_dimensions": _DIMENSIONS,
            "metrics_collected": {
                "mem": {"measurement": [NODE_METRICS.memory.name], **of_cluster},
                "disk": {
                    "measurement": disk,
                    "resources": ["/", SCRATCH],
                    "drop_device": True,
                    "drop_original_metrics": disk,
                    **of_cluster,
                },
            },
        },
        "logs": {
            "metrics_collected": {
                "prometheus": {
                    "log_group_name": METRICS_LOG_GROUP.format(cluster=_NAME),
                    "prometheus_config_path": "/etc/trainshed/prometheus.yaml",
                    "emf_processor": {
                        "metric_namespace": NAMESPACE,
                        "metric_unit": {
                            each.name: str(each.unit)
                            for exporter in EXPORTERS
                            for each in exported(exporter)
                        },
                        "metric_declaration": [
                            {
                                "source_labels": ["job"],
                                "label_matcher": f"^{exporter.name}$",
                                "dimensions": _DIMENSIONS,
                                "metric_selectors": [
                                    f"^{each.name}$" for each in exported(exporter)
                                ],
                            }
                            for exporter in EXPORTERS
                        ],
                    },
                }
            }
        },
    }


def prometheus_configuration() -> dict[str, Any]:
    """Return how the agent reads the exporters: what is not sent is not kept either."""
    return {
        "global": {"scrape_interval": f"{_SECONDS}s", "scrape_timeout": "10s"},
        "scrape_configs": [
            {
                "job_name": exporter.name,
                "static_configs": [
                    {
                        "targets": [f"127.0.0.1:{exporter.port}"],
                        "labels": {CLUSTER: _NAME, INSTANCE: "{instance}"},
                    }
                ],
                "metric_relabel_configs": [_kept(exported(exporter))],
            }
            for exporter in EXPORTERS
        ],
    }


def dcgm_counters() -> str:
    """Return the file of counters of NVIDIA's exporter, in the form of its default-counters.csv."""
    lines = (
        f"{each.name}, {'counter' if each.is_counter else 'gauge'}, {each.name}\n"
        for each in exported(DCGM)
    )
    return "# Written by scripts/monitoring_files.py: field, type, help\n" + "".join(lines)


def exported(exporter: Exporter) -> Sequence[Metric]:
    """Return the metrics of an exporter, on whichever AMI."""
    return [each for each in dict.fromkeys(_all_exported()) if each.source == exporter.name]


def _all_exported() -> Iterator[Metric]:
    yield from EFA_METRICS.all
    for accelerator in ACCELERATORS:
        for agent in AGENTS:
            yield from accelerator_metrics(accelerator, agent).all


def _kept(metrics: Sequence[Metric]) -> Mapping[str, Any]:
    """Keep the series of some metrics, of those with a label its wanted values.

    Prometheus joins the labels by a semicolon, and matches the whole.
    """
    labels = sorted({each.label[0] for each in metrics if each.label})
    wanted = (";".join([each.name, *(_value(each, label) for label in labels)]) for each in metrics)
    return {
        "action": "keep",
        "source_labels": ["__name__", *labels],
        "regex": "|".join(wanted),
    }


def _value(metric: Metric, label: str) -> str:
    return metric.label[1] if metric.label and metric.label[0] == label else ".*"
