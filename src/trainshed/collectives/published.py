"""Published results to compare a run with."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from trainshed.collectives.model import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedResult:
    """One published figure.

    Attributes:
        instance_type: for instance `dl1.24xlarge`.
        nodes: how many of them.
        ranks: accelerators of all nodes.
        operation: the collective operation.
        size_bytes: message size.
        bandwidth: bus bandwidth in GB/s.
        without_peer_direct: the same with Gaudi's peer-direct off; None where not published.
        source: who published it, and where.
    """

    instance_type: str
    nodes: int
    ranks: int
    operation: Operation
    size_bytes: int
    bandwidth: float
    without_peer_direct: float | None = None
    source: str


@cache
def published_results() -> tuple[PublishedResult, ...]:
    """Return all published results, in the order of published.toml."""
    text = (files("trainshed.collectives") / "published.toml").read_text(encoding="utf-8")
    return tuple(
        PublishedResult(**entry | {"operation": Operation(entry["operation"])})
        for entry in tomllib.loads(text)["results"]
    )
