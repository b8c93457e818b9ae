"""Plans of every instance type."""

from collections.abc import Callable
from functools import cache

import pytest

from trainshed import catalogue
from trainshed.plan import ClusterPlan, make_plan
from trainshed.spec import ClusterSpec, InstanceSpec, NodeRange, Orchestrator


@pytest.fixture(scope="session")
def plan_of() -> Callable[[str, Orchestrator], ClusterPlan]:
    """Plan a cluster of an instance type where it is offered, of several nodes if it can."""

    @cache
    def run(name: str, orchestrator: Orchestrator) -> ClusterPlan:
        nodes = NodeRange(max=4 if catalogue.lookup(name).efa_interfaces_max else 1)
        return make_plan(
            ClusterSpec(
                name="TrainCluster",
                region=catalogue.regions_offering(name)[0],
                orchestrator=orchestrator,
                instance=InstanceSpec(type=name, nodes=nodes, ami="ami-0123456789abcdef0"),
            )
        )

    return run
