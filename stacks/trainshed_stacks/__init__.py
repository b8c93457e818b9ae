"""Stacks: which constructs live and die together."""

from trainshed_stacks.cluster_stack import TrainClusterStack
from trainshed_stacks.containers_stack import ContainersStack
from trainshed_stacks.fleet import add_fleet
from trainshed_stacks.network_stack import NetworkStack
from trainshed_stacks.prerequisites_stack import PrerequisitesStack
from trainshed_stacks.shared import SharedStacks
from trainshed_stacks.storage_stack import StorageStack

__all__ = [
    "ContainersStack",
    "NetworkStack",
    "PrerequisitesStack",
    "SharedStacks",
    "StorageStack",
    "TrainClusterStack",
    "add_fleet",
]
