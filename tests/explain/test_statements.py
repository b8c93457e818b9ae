"""What `trainshed explain` says is true of every instance type, in every kind of cluster."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from trainshed.catalogue import AcceleratorFamily, InstanceType, all_types, lookup, regions_offering
from trainshed.explain import Explanation, draw_node, explain
from trainshed.pins.reader import read_pins
from trainshed.plan import ClusterPlan, make_plan
from trainshed.spec import ClusterSpec

PINS = read_pins(Path(__file__).parents[2] / "packer" / "pins.json")
EXISTING = {
    "vpc": "vpc-0123456789abcdef0",
    "subnet": "subnet-0123456789abcdef0",
    "default_security_group": "sg-0123456789abcdef0",
}
# What is added to a cluster of one node.
KINDS: dict[str, dict[str, Any]] = {
    "bare": {},
    "storage": {"storage": {"lustre": {"mount": "/data"}}},
    "scratch": {"storage": {"lustre": {"deployment": "scratch-2", "s3": {"bucket": "sets"}}}},
    "existing network": {"network": EXISTING},
    "reservation": {"capacity": {"reservation": "cr-0123456789abcdef0", "placement_group": "ours"}},
    "long jobs": {"job": {"timeout_hours": 8760, "environment": {"A": "1"}}},
}
cases = pytest.mark.parametrize("kind", KINDS)
types = pytest.mark.parametrize("name", all_types())


def planned(name: str, kind: str, **instance: Any) -> ClusterPlan:
    fields = {"type": name, "ami": "ami-0123456789abcdef0"} | instance
    region = regions_offering(name)[0]
    return make_plan(
        ClusterSpec.model_validate(
            {"name": "Cluster1", "region": region, "instance": fields} | KINDS[kind]
        )
    )


def statements(explanation: Explanation) -> Iterator[str]:
    """Every sentence but the findings, which are judgments."""
    for row in explanation.interfaces:
        yield row.reason
    for decision in explanation.decisions:
        yield f"{decision.field} = {decision.value}: {decision.reason}"
    yield from (
        explanation.nodes,
        explanation.accelerators,
        explanation.memory,
        explanation.place,
        explanation.capacity,
    )


def choices(explanation: Explanation) -> dict[str, str]:
    return {decision.field: decision.value for decision in explanation.decisions}


@types
@cases
def test_of_a_type_without_efa_only_its_missing_efa_is_reported(name: str, kind: str) -> None:
    plan = planned(name, kind)
    explanation = explain(plan)
    efa = bool(plan.instance.efa_interfaces_max)

    said = [text for text in statements(explanation) if "EFA" in text.replace("no EFA", "")]

    assert (
        (explanation.efa is not None)
        == efa
        == any(row.kind != "interface" for row in explanation.interfaces)
    )
    assert bool(said) == efa
    assert ("no EFA" in draw_node(plan)) == (not efa)


@types
def test_a_cluster_of_one_node_without_efa_has_no_placement_group(name: str) -> None:
    explanation = explain(planned(name, "bare"))

    assert choices(explanation)["placement group"] == (
        "cluster" if lookup(name).efa_cards else "none"
    )


def base_of(instance: InstanceType) -> str | None:
    family = instance.accelerator.family
    return PINS.base_of(family, "ecs") if family is not AcceleratorFamily.QUALCOMM else None


@types
def test_the_operating_system_that_is_named_is_that_of_the_image(name: str) -> None:
    explanation = explain(planned(name, "bare"))

    named = [text for text in statements(explanation) if "Amazon Linux" in text]

    assert not named or base_of(lookup(name)) == "amazon-linux-2023"


@cases
def test_storage_network_and_job_have_their_rows(kind: str) -> None:
    explanation = choices(explain(planned("p5.48xlarge", kind)))

    assert {"network", "storage", "job attempts", "job time-out", "shared memory"} <= set(
        explanation
    )
    assert ("storage mount" in explanation) == (kind in ("storage", "scratch"))


def test_the_rows_of_storage_say_what_is_asked_and_what_is_not() -> None:
    decisions = {
        row.field: (row.value, row.reason) for row in planned("p5.48xlarge", "scratch").decisions
    }

    assert decisions["storage"] == (
        "Lustre scratch-2, 1200 GiB",
        "capacity: the default; deployment: as asked",
    )
    assert decisions["storage throughput"][0] == "200 MB/s per TiB"
    assert decisions["storage S3 link"][0] == "s3://sets/"
    assert "storage metadata" not in decisions


def test_a_network_stack_without_resources_is_not_among_the_stacks() -> None:
    network = {name: EXISTING[name] for name in ("vpc", "subnet")}
    spec = {"name": "Alpha", "region": "us-west-2", "instance": {"type": "p5.48xlarge"}}

    bare = explain(make_plan(ClusterSpec.model_validate(spec | {"network": network})))
    stored = explain(
        make_plan(ClusterSpec.model_validate(spec | {"network": network} | KINDS["storage"]))
    )

    assert bare.stacks == ("AlphaPrerequisites", "AlphaContainers", "Alpha")
    assert stored.stacks == (
        *("AlphaPrerequisites", "AlphaNetwork", "AlphaStorage"),
        *("AlphaContainers", "Alpha"),
    )


def test_jobs_longer_than_an_update_waits_are_not_said_to_be_as_long() -> None:
    decisions = {row.field: row for row in planned("p5.48xlarge", "long jobs").decisions}

    assert decisions["update time-out"].value == "120 hours"
    assert decisions["update time-out"].reason != "as long as a job may run"


def test_values_of_the_users_variables_are_not_shown() -> None:
    spec = ClusterSpec.model_validate(
        {
            "name": "Cluster1",
            "region": "us-west-2",
            "instance": {"type": "trn1.32xlarge"},
            "job": {"environment": {"TOKEN": "swordfish"}},
        }
    )

    explanation = asdict(explain(make_plan(spec)))

    assert "TOKEN" in str(explanation)
    assert "swordfish" not in str(explanation)
