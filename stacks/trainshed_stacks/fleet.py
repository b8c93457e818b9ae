"""From a fleet's plan to its stacks."""

from constructs import Construct

from trainshed.plan import Fleet
from trainshed_stacks.cluster_stack import TrainClusterStack
from trainshed_stacks.shared import SharedStacks


def add_fleet(scope: Construct, fleet: Fleet) -> list[TrainClusterStack]:
    """Add the stacks of every cluster of a fleet to an app, and return the compute stacks."""
    shared = SharedStacks(scope, fleet)
    return [
        TrainClusterStack(scope, cluster.spec.name, cluster=cluster, shared=shared)
        for cluster in fleet.clusters
    ]
