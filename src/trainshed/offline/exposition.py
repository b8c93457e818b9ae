"""Prometheus' text format, as the CloudWatch agent reads it, and which series it keeps."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainshed.errors import TrainshedError

_LINE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One value.

    Attributes:
        name: of the metric.
        labels: of the series.
        value: as it is read.
        is_counter: the type that the text gives.
    """

    name: str
    labels: Mapping[str, str]
    value: float
    is_counter: bool

    @property
    def series(self) -> str:
        """What tells it from every other one."""
        return f"{self.name}{sorted(self.labels.items())}"


def read_samples(text: str, scraping: Mapping[str, Any]) -> Iterator[Sample]:
    """Yield what the job of a Prometheus configuration keeps of an answer.

    Prometheus' documentation, "Configuration": `relabel_config`.

    Args:
        text: the answer; values that are no finite numbers are left out, as the agent does.
        scraping: the job, with one target and one rule, which keeps.

    Raises:
        TrainshedError: a value cannot be read.
    """
    [target], [rule] = scraping["static_configs"], scraping["metric_relabel_configs"]
    counters = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            if kind == "counter":
                counters.add(name)
        elif found := _LINE.fullmatch(line):
            name, labels, value = found.groups()
            values = dict(_LABEL.findall(labels or ""))
            joined = ";".join(
                {"__name__": name, **values}.get(e, "") for e in rule["source_labels"]
            )
            if re.fullmatch(rule["regex"], joined) and math.isfinite(
                number := _number(name, value)
            ):
                yield Sample(
                    name=name,
                    labels={**values, **target["labels"], "job": scraping["job_name"]},
                    value=number,
                    is_counter=name in counters,
                )


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise TrainshedError(f"{name}: {value} is no number") from None
