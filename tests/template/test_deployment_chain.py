"""The shipped stacks: storage and compute do not wait for each other."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trainshed.deployment import ResourceGraph, deployment, resource_graph
from trainshed.plan import Fleet, load_fleet
from trainshed.synthesis import read_assembly

ROOT = Path(__file__).parents[2]
FLEET = load_fleet(sorted((ROOT / "clusters").glob("*.yaml")))


@pytest.fixture(scope="module")
def graph(synthesise: Callable[[Fleet], Path]) -> ResourceGraph:
    return resource_graph(read_assembly(synthesise(FLEET)))


@pytest.mark.parametrize("cluster", FLEET.clusters, ids=lambda cluster: cluster.name)
def test_no_resource_of_storage_waits_for_one_of_compute_or_the_reverse(
    graph: ResourceGraph, cluster: object
) -> None:
    storage, compute = cluster.lustre.stack_name, cluster.name  # type: ignore[attr-defined]

    assert graph.of(storage)
    assert graph.waiting(storage, compute) == ()
    assert graph.waiting(compute, storage) == ()


def test_what_both_wait_for_is_the_network(graph: ResourceGraph) -> None:
    assert graph.waiting("TrainStorage", "TrainNetwork")
    assert graph.waiting("TrainCluster", "TrainNetwork")


def test_compute_comes_after_storage_by_the_order_of_stacks_only(graph: ResourceGraph) -> None:
    # docs/architecture.md, "Lifetimes": so that `cdk deploy TrainCluster` gives a working cluster.
    assert "TrainStorage" in graph.stack_order["TrainCluster"]
    assert "TrainCluster" not in graph.all_before("TrainStorage")


def test_the_longest_chain_goes_over_the_nat_gateway_the_file_system_and_the_environment(
    graph: ResourceGraph,
) -> None:
    found = deployment(graph, "TrainCluster")

    timed = [link.resource.type for link in found.chain if link.resource.time]
    assert timed == [
        "AWS::EC2::NatGateway",
        "AWS::FSx::FileSystem",
        "AWS::Batch::ComputeEnvironment",
    ]
    assert (found.longest.low_seconds, found.longest.high_seconds) == (
        85 + 600 + 38,
        125 + 1200 + 38,
    )
    beside = {stack.name: stack.beside for stack in found.stacks}
    assert beside["TrainStorage"] == ("TrainContainers",)
