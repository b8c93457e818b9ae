"""Plans of AWS Batch with one node on Spot."""

from typing import Any

import pytest
from batch_plans import batch_of

from trainshed.interfaces import InterfaceProfile
from trainshed.nodes.folders import SPOT
from trainshed.orchestrators import Orchestrator, traits
from trainshed.orchestrators.batch.parts import planned_parts
from trainshed.parts.nodes import nodes_part
from trainshed.plan import ClusterPlan, make_plan
from trainshed.spec import ClusterSpec, SpecError

VPC = {"vpc": "vpc-0123456789abcdef0", "subnet": "subnet-0123456789abcdef0"}


def plan(type_: str = "trn1.32xlarge", nodes: int = 1, **fields: Any) -> ClusterPlan:
    instance = {"type": type_, "nodes": {"max": nodes}}
    return make_plan(
        ClusterSpec.model_validate(
            {
                "name": "SpotCluster",
                "region": "us-west-2",
                "instance": instance,
                "capacity": {"spot": {}},
                **fields,
            }
        )
    )


def decision(plan: ClusterPlan, field: str) -> str:
    [found] = [each.value for each in plan.decisions if each.field == field]
    return found


def test_its_jobs_have_one_container_in_the_network_of_the_node() -> None:
    on_spot, on_demand = plan(), plan(capacity="on-demand")

    assert (batch_of(on_spot).multi_node, batch_of(on_demand).multi_node) == (False, True)
    assert (on_spot.job_interface, on_demand.job_interface) == (False, True)
    assert on_demand.addresses_per_node - on_spot.addresses_per_node == 1
    assert on_spot.profile is InterfaceProfile.EC2
    assert decision(on_spot, "jobs") == "of one container"
    assert "jobs" not in [each.field for each in on_demand.decisions]


@pytest.mark.parametrize(
    ("type_", "variable"),
    [
        ("trn1.32xlarge", "CCOM_SOCKET_IFNAME"),
        ("p4d.24xlarge", "NCCL_SOCKET_IFNAME"),
    ],
)
def test_no_variable_names_an_interface_that_its_container_has_not(
    type_: str, variable: str
) -> None:
    assert variable in plan(type_, capacity="on-demand").jobs.environment
    assert variable not in plan(type_).jobs.environment


def test_its_container_sees_what_ec2_says() -> None:
    assert batch_of(plan()).container.folders["spot"] == SPOT
    assert "spot" not in batch_of(plan(capacity="on-demand")).container.folders


def test_it_has_no_placement_group_in_which_ec2_would_have_to_find_one_node() -> None:
    found = plan()

    assert not found.capacity.own_placement_group
    assert decision(found, "placement group") == "none"
    assert plan(orchestrator="ec2", nodes=2).capacity.own_placement_group


@pytest.mark.parametrize(
    ("job", "hours", "said"),
    [
        ({}, None, "as long as it takes"),
        ({"capacity_wait_hours": 3}, 3, "3 hours"),
    ],
    ids=["by-default", "as-asked"],
)
def test_a_job_waits_for_its_node_as_long_as_it_takes_unless_a_limit_is_asked_for(
    job: dict[str, int], hours: int | None, said: str
) -> None:
    found = plan(job=job)

    assert batch_of(found).capacity_wait_hours == hours
    assert decision(found, "wait for capacity") == said
    [queue] = [each for each in planned_parts(found) if each.kind == "queue"]
    assert [each.value for each in queue.facts if each.name == "wait for capacity"] == [said]


@pytest.mark.parametrize("interfaces", [*InterfaceProfile])
def test_any_layout_leaves_room_to_a_job_without_an_interface(interfaces: str) -> None:
    # Whose layout `eks` fills both slots of card 0.
    instance = {"type": "p5.48xlarge", "interfaces": interfaces}

    found = plan(instance=instance)

    assert found.profile == interfaces


def test_it_needs_no_rules_of_the_default_security_group() -> None:
    network = {**VPC, "default_security_group": "sg-0123456789abcdef0"}

    with pytest.raises(SpecError, match="only multi-node jobs of AWS Batch use it, and on Spot"):
        plan(zone="usw2-az4", network=network)
    assert plan(zone="usw2-az4", network=VPC).network.default_security_group_id is None


def test_its_container_fits_on_the_smallest_of_several_types() -> None:
    types = ["g6e.8xlarge", "g6.8xlarge"]

    several = plan(types[0], capacity={"spot": {}, "instance_types": types})

    smallest = plan(types[1])
    assert batch_of(several).container == batch_of(smallest).container
    [row] = [each for each in several.decisions if each.field == "container memory"]
    assert row.reason.endswith("; of g6.8xlarge, which has the least")
    [fact] = [each for each in nodes_part(several).facts if each.name == "instance type"]
    assert fact.value == "g6e.8xlarge, else g6.8xlarge"


def test_only_one_node_of_aws_batch_is_on_spot() -> None:
    known = traits(Orchestrator.BATCH)

    assert known.why_not_on_spot(1) is None
    assert known.why_not_on_spot(2) == "AWS Batch runs no multi-node jobs on Spot"
    assert known.on_spot(1) == "a job ends when EC2 takes a node back"
