"""Published throughput of trainings."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """One model on more and more nodes of a type.

    Attributes:
        model: its name here, for instance `bert-1.5b`; the ready jobs have the same.
        what: the model and its training, in words.
        sample: what is counted, for instance sequences.
        instance_type: the nodes' type.
        source: who published it, and where.
        per_second: samples a second, by how many nodes.
        hours: the lowest and the highest published time to train, by how many nodes.
        remark: what to know of the figures; empty when there is nothing.
    """

    model: str
    what: str
    sample: str
    instance_type: str
    source: str
    per_second: Mapping[int, float]
    hours: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One model on one node of several types.

    Attributes:
        model: its name here.
        what: the model and its training, in words.
        sample: what is counted.
        source: who published it, and where.
        per_second: samples a second, by instance type.
    """

    model: str
    what: str
    sample: str
    source: str
    per_second: Mapping[str, float]

    def of(self, instance_type: str) -> Scaling:
        """Return what was measured on one node of a type."""
        return Scaling(
            model=self.model,
            what=self.what,
            sample=self.sample,
            instance_type=instance_type,
            source=self.source,
            per_second={1: self.per_second[instance_type]},
        )


@cache
def scalings() -> tuple[Scaling, ...]:
    """Return all measurements on several nodes, in the order of published.toml."""
    return tuple(
        Scaling(
            **entry
            | {
                "per_second": {int(n): samples for n, samples in entry["per_second"].items()},
                "hours": {int(n): (low, high) for n, (low, high) in entry.get("hours", {}).items()},
            }
        )
        for entry in _load()["scaling"]
    )


@cache
def comparisons() -> tuple[Comparison, ...]:
    """Return all comparisons of types, in the order of published.toml."""
    return tuple(Comparison(**entry) for entry in _load()["comparison"])


@cache
def _load() -> Any:
    text = (files("trainshed.estimate") / "published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
