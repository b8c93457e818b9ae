"""The CloudWatch agent's configuration, refused where the agent refuses it.

The agent's JSON schema (amazon-cloudwatch-agent, translator/config/schema.json), as far as our
nodes go by it; a section that is not written here is refused, too.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from trainshed.errors import TrainshedError

_APPENDED = ("ImageId", "InstanceId", "InstanceType", "AutoScalingGroupName")
_SECTIONS = {
    "agent": {"metrics_collection_interval", "run_as_user"},
    "metrics": {"namespace", "append_dimensions", "aggregation_dimensions", "metrics_collected"},
    "metrics.metrics_collected": {"mem", "disk"},
    "metrics.metrics_collected.mem": {"measurement", "append_dimensions", "drop_original_metrics"},
    "metrics.metrics_collected.disk": {
        *("measurement", "append_dimensions", "drop_original_metrics"),
        *("resources", "drop_device"),
    },
    "logs": {"metrics_collected"},
    "logs.metrics_collected": {"prometheus"},
    "logs.metrics_collected.prometheus": {
        *("log_group_name", "prometheus_config_path", "emf_processor"),
    },
    "logs.metrics_collected.prometheus.emf_processor": {
        *("metric_declaration_dedup", "metric_namespace", "metric_unit", "metric_declaration"),
    },
}
_DECLARATION = {
    *("source_labels", "label_matcher", "label_separator", "metric_selectors", "dimensions"),
}


def check_configuration(document: Mapping[str, Any]) -> None:
    """Look at a whole configuration.

    Raises:
        TrainshedError: the agent would not start with it.
    """
    _only("", document, ("agent", "metrics", "logs"))
    for path, keys in _SECTIONS.items():
        section: Any = document
        for key in path.split("."):
            section = section.get(key, {})
        _only(path, section, keys)
    metrics = document["metrics"]
    if not metrics.get("metrics_collected"):
        raise TrainshedError("metrics: metrics_collected is required")
    for name, value in metrics.get("append_dimensions", {}).items():
        # Others are left out without a word.
        if name not in _APPENDED or value != f"${{aws:{name}}}":
            raise TrainshedError(f"metrics.append_dimensions: the agent does not know {name}")
    for name, section in metrics["metrics_collected"].items():
        if not section.get("measurement"):
            raise TrainshedError(f"{name}: measurement is required")
        if "drop_original_metrics" in section and not section["drop_original_metrics"]:
            raise TrainshedError(f"{name}: drop_original_metrics must not be empty")
    processor = document["logs"]["metrics_collected"]["prometheus"]["emf_processor"]
    for each in processor["metric_declaration"]:
        _only("metric_declaration", each, _DECLARATION)


def _only(path: str, section: Mapping[str, Any], known: Iterable[str]) -> None:
    if unknown := sorted(section.keys() - set(known)):
        raise TrainshedError(f"{path or 'configuration'}: the agent does not know {unknown[0]}")
