"""What a cluster costs with the nodes that its deployed stack has."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from trainshed.apply.cost import as_deployed, cost_change
from trainshed.catalogue import lookup
from trainshed.plan import CapacityKind, ClusterPlan, load_fleet
from trainshed.review.model import Effect, ResourceChange, StackChange
from trainshed.spec import NodeRange

HEAD = "name: TrainCluster\nregion: us-west-2\n"
BATCH = "instance: {type: trn1.32xlarge, nodes: {min: 1, max: 4}}\n"
Plan = Callable[[str], ClusterPlan]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Plan a cluster by the lines of its file after name and region."""

    def run(text: str) -> ClusterPlan:
        file = tmp_path / "train.yaml"
        file.write_text(HEAD + text)
        [found] = load_fleet([file]).clusters
        return found

    return run


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(BATCH, id="batch"),
        pytest.param(
            "instance: {type: p4d.24xlarge, nodes: {max: 1}}\ncapacity: {spot: {}}\n",
            id="batch on Spot",
        ),
        pytest.param(
            "orchestrator: ec2\ninstance: {type: trn1.32xlarge, nodes: {min: 3, max: 3}}\n"
            "capacity: {reservation: cr-0123456789abcdef0}\n",
            id="ec2 in a reservation",
        ),
        pytest.param(
            "orchestrator: ec2\ninstance: {type: p4d.24xlarge, nodes: {min: 2, max: 2}}\n"
            "capacity: {instance_types: [p4d.24xlarge, p4de.24xlarge]}\n",
            id="ec2 of several types",
        ),
        pytest.param(
            "orchestrator: eks\ninstance: {type: trn1.32xlarge, nodes: {min: 2, max: 2}}\n"
            'kubernetes: {version: "1.35", access: [{role: Operator, policy: cluster-admin}]}\n',
            id="eks",
        ),
    ],
)
def test_the_nodes_that_are_deployed_are_found_in_the_template(
    plan: Plan, synthesise: Callable[..., Path], tmp_path: Path, text: str
) -> None:
    deployed = plan(text)
    folder = synthesise(load_fleet([tmp_path / "train.yaml"]))
    template = json.loads((folder / "TrainCluster.template.json").read_text())
    other = replace(
        deployed,
        nodes=NodeRange(min=0, max=9),
        instance=lookup("trn2.48xlarge"),
        capacity=replace(deployed.capacity, kind=CapacityKind.CAPACITY_BLOCK),
    )

    found = as_deployed(other, template)

    assert found
    assert (found.nodes, found.instance.name, found.capacity.kind) == (
        deployed.nodes,
        deployed.instance.name,
        deployed.capacity.kind,
    )


def test_what_was_not_there_has_no_cost_before(plan: Plan) -> None:
    cost = cost_change(plan(BATCH), {}, ())

    assert (cost.idle_before, cost.full_before) == (None, None)


def test_a_file_system_that_differs_makes_the_cost_before_unknown(plan: Plan) -> None:
    resource = ResourceChange(
        stack="TrainStorage",
        logical_id="It",
        name="It",
        resource_type="AWS::FSx::FileSystem",
        effect=Effect.CHANGED,
    )
    stack = StackChange(name="TrainStorage", effect=Effect.CHANGED, resources=(resource,))
    environment = {
        "Type": "AWS::Batch::ComputeEnvironment",
        "Properties": {
            "ComputeResources": {
                "InstanceTypes": ["trn1.32xlarge"],
                "MinvCpus": 0,
                "MaxvCpus": 256,
            }
        },
    }

    cost = cost_change(plan(BATCH), {"Resources": {"It": environment}}, (stack,))

    assert cost.full_before
    assert cost.full_before.unknown == ("storage as it is deployed",)
