"""Time series in Prometheus' text format (its documentation, "Text-based format")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Series:
    """One value of a metric.

    Attributes:
        name: of the metric.
        kind: `counter` or `gauge`.
        value: as it is now; a counter's is its sum.
        labels: whose value it is.
    """

    name: str
    kind: str
    value: float
    labels: Mapping[str, str]


def text_of(series: Iterable[Series]) -> str:
    """Return the text, with the series of a metric together."""
    metrics: dict[str, list[str]] = {}
    for each in series:
        lines = metrics.setdefault(each.name, [f"# TYPE {each.name} {each.kind}"])
        labels = ",".join(f'{key}="{_escaped(text)}"' for key, text in sorted(each.labels.items()))
        lines.append(f"{each.name}{{{labels}}} {each.value:.17g}")
    return "".join(f"{line}\n" for lines in metrics.values() for line in lines)


def _escaped(text: str) -> str:
    """Write the value of a label: programs may choose theirs, as Neuron's runtimes their tag."""
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
