"""What sends the metrics of a node: exporters, and the CloudWatch agent that reads them.

The files of /etc/trainshed/monitoring are generated from the project's one statement of the
metrics (`trainshed.metrics`). The name of the cluster and the instance's id are put in here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trainshed_node.documents import read_object
from trainshed_node.errors import NodeError
from trainshed_node.instance import instance_id
from trainshed_node.system import run

AGENT = Path("/opt/aws/amazon-cloudwatch-agent/etc/amazon-cloudwatch-agent.json")
# JSON is YAML, too.
PROMETHEUS = Path("/etc/trainshed/prometheus.yaml")
FOLDER = Path("/etc/trainshed/monitoring")
AGENT_UNIT = "amazon-cloudwatch-agent.service"


def set_up_monitoring(cluster: str, log: Callable[[str], None]) -> None:
    """Start the exporters that the AMI has, and have the agent send for a cluster.

    What fails is a warning: a node takes jobs without metrics, too.

    Args:
        cluster: its name.
        log: takes lines.
    """
    try:
        exporters = _configure(cluster)
    except (NodeError, OSError) as error:
        log(f"WARNING: no metrics: {error}")
        return
    started = True
    # Not waited for: a unit that is ordered after the first boot would wait for this program.
    for verb, units in (("start", exporters), ("restart", [AGENT_UNIT])):
        done = run("systemctl", "--no-block", verb, *units)
        if not done.ok:
            log(f"WARNING: no metrics: systemctl {verb} {' '.join(units)}: {done.last_line}")
            started = False
    if started:
        log(f"metrics of {cluster} are sent, of {', '.join(['the node', *exporters])}")


def _configure(cluster: str) -> list[str]:
    """Write what the agent reads; return the units of the exporters."""
    words = {"{cluster}": cluster, "{instance}": instance_id()}
    scraping = _filled(read_object(FOLDER / "prometheus.json"), words)
    scraping["scrape_configs"] = [
        each for each in scraping["scrape_configs"] if _has_unit(f"{each['job_name']}.service")
    ]
    _write(PROMETHEUS, scraping)
    _write(AGENT, _filled(read_object(FOLDER / "agent.json"), words))
    return [f"{each['job_name']}.service" for each in scraping["scrape_configs"]]


def _has_unit(unit: str) -> bool:
    return run("systemctl", "cat", unit).ok


def _filled(document: Any, words: dict[str, str]) -> Any:
    if isinstance(document, dict):
        return {key: _filled(value, words) for key, value in document.items()}
    if isinstance(document, list):
        return [_filled(value, words) for value in document]
    if isinstance(document, str):
        for word, value in words.items():
            document = document.replace(word, value)
    return document


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
