"""CapacityGroup in a template, and in that of a cluster."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec
from trainshed_constructs import CapacityGroup, ConstructError

FIRST, SECOND = "cr-0123456789abcdef0", "cr-0fedcba9876543210"


def _cluster(kind: str, *ids: str) -> ClusterSpec:
    days = (("01", "08"), ("08", "15"))
    windows = [
        {kind: each, "from": f"2026-12-{begin}T11:30Z", "until": f"2026-12-{end}T11:30Z"}
        for each, (begin, end) in zip(ids, days, strict=False)
    ]
    return ClusterSpec.model_validate(
        {
            "name": "OneCluster",
            "region": "us-west-2",
            "zone": "usw2-az4",
            "instance": {"type": "trn1.32xlarge", "nodes": {"max": 2}},
            "capacity": {"calendar": windows},
        }
    )


def _resources(assembly: Path, kind: str) -> list[dict[str, Any]]:
    found = json.loads((assembly / "OneCluster.template.json").read_text())["Resources"]
    return [each["Properties"] for each in found.values() if each["Type"] == kind]


def test_the_group_is_a_pool_of_the_reservations_of_its_account() -> None:
    stack = cdk.Stack(env=cdk.Environment(account="123456789012", region="us-west-2"))

    group = CapacityGroup(stack, "Blocks", name="december", reservation_ids=[FIRST])

    template = Template.from_stack(stack)
    [logical_id] = template.find_resources("AWS::ResourceGroups::Group")
    assert stack.resolve(group.arn) == {"Fn::GetAtt": [logical_id, "Arn"]}
    found = template.find_resources("AWS::ResourceGroups::Group")
    properties = found[logical_id]["Properties"]
    assert properties["Name"] == "december"
    assert [each["Type"] for each in properties["Configuration"]] == [
        "AWS::EC2::CapacityReservationPool",
        "AWS::ResourceGroups::Generic",
    ]
    assert stack.resolve(properties["Resources"]) == [
        {
            "Fn::Join": [
                "",
                [
                    "arn:",
                    {"Ref": "AWS::Partition"},
                    f":ec2:us-west-2:123456789012:capacity-reservation/{FIRST}",
                ],
            ]
        }
    ]


def test_a_name_that_resource_groups_refuses_is_refused() -> None:
    with pytest.raises(ConstructError, match="begins not with aws"):
        CapacityGroup(cdk.Stack(), "Blocks", name="AwsBlocks", reservation_ids=[FIRST])


@pytest.mark.parametrize(
    ("kind", "market", "preference", "strategy"),
    [
        pytest.param("capacity_block", "capacity-block", None, "BEST_FIT", id="blocks"),
        pytest.param(
            "reservation",
            None,
            "capacity-reservations-only",
            "BEST_FIT_PROGRESSIVE",
            id="reservations",
        ),
    ],
)
def test_nodes_are_launched_into_the_group_of_a_calendar_alone(
    synthesise: Callable[[Fleet], Path],
    kind: str,
    market: str | None,
    preference: str | None,
    strategy: str,
) -> None:
    assembly = synthesise(plan_fleet([_cluster(kind, FIRST, SECOND)]))

    [group] = _resources(assembly, "AWS::ResourceGroups::Group")
    [template] = _resources(assembly, "AWS::EC2::LaunchTemplate")
    [environment] = _resources(assembly, "AWS::Batch::ComputeEnvironment")
    [queue] = _resources(assembly, "AWS::Batch::JobQueue")
    data = template["LaunchTemplateData"]
    reserved = data["CapacityReservationSpecification"]
    reasons = [each["Reason"] for each in queue["JobStateTimeLimitActions"]]
    assert (group["Name"], len(group["Resources"])) == ("trainshed-OneCluster", 2)
    assert data.get("InstanceMarketOptions", {}).get("MarketType") == market
    assert reserved.get("CapacityReservationPreference") == preference
    assert list(reserved["CapacityReservationTarget"]) == ["CapacityReservationResourceGroupArn"]
    assert environment["ComputeResources"]["AllocationStrategy"] == strategy
    assert "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY" not in reasons


def test_a_further_window_changes_the_group_alone(
    synthesise: Callable[[Fleet], Path], tmp_path: Path
) -> None:
    before, after = (
        {
            kind: _resources(synthesise(plan_fleet([_cluster("capacity_block", *ids)])), kind)
            for kind in (
                "AWS::ResourceGroups::Group",
                "AWS::EC2::LaunchTemplate",
                "AWS::Batch::ComputeEnvironment",
                "AWS::Batch::JobQueue",
                "AWS::Batch::JobDefinition",
            )
        }
        for ids in ((FIRST,), (FIRST, SECOND))
    )

    assert [kind for kind in before if before[kind] != after[kind]] == [
        "AWS::ResourceGroups::Group"
    ]
