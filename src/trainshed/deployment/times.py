"""How long AWS was seen to take to make a resource."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTime:
    """How long AWS was seen to take to make a resource of a type.

    Attributes:
        type: CloudFormation's name of the type.
        where: properties that the resource has, where the type alone does not tell.
        low_seconds: the shortest time.
        high_seconds: the longest time.
        confidence: how much there is to rely on.
        source: who saw it.
        date: the day on which the source was read.
    """

    type: str
    where: Mapping[str, Any] = field(default_factory=dict)
    low_seconds: int
    high_seconds: int
    confidence: str
    source: str
    date: date


def observed_time(resource_type: str, properties: Mapping[str, Any]) -> ObservedTime | None:
    """Return how long a resource takes; None when nobody has published it."""
    for time in _times():
        if time.type == resource_type and time.where.items() <= properties.items():
            return time
    return None


@cache
def _times() -> tuple[ObservedTime, ...]:
    text = (files("trainshed.deployment") / "times.toml").read_text(encoding="utf-8")
    return tuple(ObservedTime(**entry) for entry in tomllib.loads(text)["times"])
