"""The nodes that a deployed group has."""

from collections.abc import Mapping
from typing import Any

from trainshed.catalogue import InstanceType


def node_range(properties: Mapping[str, Any], instance: InstanceType) -> tuple[int, int]:
    """Return the fewest and the most nodes."""
    return int(properties["MinSize"]), int(properties["MaxSize"])
