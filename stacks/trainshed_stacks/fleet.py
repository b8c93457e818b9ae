"""From a fleet's plan to its stacks."""

from constructs import Construct

from trainshed.plan import Fleet
from trainshed_stacks.cluster_stack import TrainClusterStack
from trainshed_stacks.kubernetes_files import write_objects
from trainshed_stacks.shared import SharedStacks
from trainshed_stacks.template_checks import add_template_checks, note_judges


def add_fleet(scope: Construct, fleet: Fleet) -> list[TrainClusterStack]:
    """Add the stacks of every cluster of a fleet to an app, and return the compute stacks."""
    judges = add_template_checks(scope)
    shared = SharedStacks(scope, fleet)
    stacks = [
        TrainClusterStack(scope, cluster.name, cluster=cluster, shared=shared)
        for cluster in fleet.clusters
    ]
    for stack in stacks:
        note_judges(stack, judges)
    write_objects(scope, fleet)
    return stacks
