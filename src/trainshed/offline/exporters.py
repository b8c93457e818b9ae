"""What stands in for the exporters of a node of the embedded AWS, which has no devices.

What each would answer is a file of the node, below `run/exporters`: whoever wants another answer,
for instance of a GPU with an error, writes another one.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trainshed.metrics import EFA_METRICS, Metric, accelerator_metrics
from trainshed.metrics.exporters import EXPORTERS, Exporter

FOLDER = "run/exporters"
# The label with the number of a device, by the exporter that names it so.
_LABELS = {"efa": "device", "habana": "device", "neuron": "neuroncore", "nvidia": "gpu"}


def write_answers(root: Path, devices: Mapping[str, int], agent: str) -> None:
    """Write what the exporters answer on a node whose devices are idle.

    Args:
        root: folder of the node's files.
        devices: how many the node has of each kind.
        agent: of the node's AMI, for instance `ecs` or `eks-1.35`.
    """
    for exporter in EXPORTERS:
        lines = [
            line for kind, count in devices.items() for line in _lines(exporter, kind, count, agent)
        ]
        file = root / FOLDER / exporter.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(lines), encoding="utf-8")


def _lines(exporter: Exporter, kind: str, count: int, agent: str) -> Iterator[str]:
    for metric in _metrics(kind, agent):
        if metric.source == exporter.name:
            yield f"# TYPE {metric.name} {'counter' if metric.is_counter else 'gauge'}\n"
            for number in range(count):
                yield f'{metric.name}{{{_LABELS[kind]}="{number}"{_wanted(metric)}}} 0\n'


def _metrics(kind: str, agent: str) -> Sequence[Metric]:
    return EFA_METRICS.all if kind == "efa" else accelerator_metrics(kind, agent).all


def _wanted(metric: Metric) -> str:
    """Return the label that the metric wants, with a value that it wants."""
    if not metric.label:
        return ""
    name, pattern = metric.label
    return f',{name}="{pattern.replace("(mem|sram)", "mem")}"'
