"""The nodes that a deployed compute environment has."""

from collections.abc import Mapping
from typing import Any

from trainshed.catalogue import InstanceType


def node_range(properties: Mapping[str, Any], instance: InstanceType) -> tuple[int, int]:
    """Return the fewest and the most nodes."""
    resources = properties["ComputeResources"]
    return resources["MinvCpus"] // instance.vcpus, resources["MaxvCpus"] // instance.vcpus
