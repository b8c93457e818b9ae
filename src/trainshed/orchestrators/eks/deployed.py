"""The nodes that a deployed node group has."""

from collections.abc import Mapping
from typing import Any

from trainshed.catalogue import InstanceType


def node_range(properties: Mapping[str, Any], instance: InstanceType) -> tuple[int, int]:
    """Return the fewest and the most nodes; the type says nothing of them."""
    scaling = properties["ScalingConfig"]
    return int(scaling["MinSize"]), int(scaling["MaxSize"])
