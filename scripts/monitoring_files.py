"""Writes what sends metrics on nodes into packer/files; `make schema` runs it."""

import json
from collections.abc import Mapping
from pathlib import Path

from trainshed.metrics.agent import agent_configuration, dcgm_counters, prometheus_configuration

FOLDER = Path("packer/files/etc/trainshed/monitoring")


def monitoring_files() -> Mapping[str, str]:
    """Return the files by their names."""
    return {
        "agent.json": json.dumps(agent_configuration(), indent=2) + "\n",
        "prometheus.json": json.dumps(prometheus_configuration(), indent=2) + "\n",
        "dcgm-counters.csv": dcgm_counters(),
    }


if __name__ == "__main__":
    for name, content in monitoring_files().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
