"""Placement groups."""

from collections.abc import Callable
from typing import Any

import pytest


def test_a_placement_group_is_described_as_created(ec2: Any, name: str) -> None:
    ec2.create_placement_group(
        GroupName=name,
        Strategy="cluster",
        TagSpecifications=[
            {"ResourceType": "placement-group", "Tags": [{"Key": "cluster", "Value": name}]}
        ],
    )

    found = ec2.describe_placement_groups(GroupNames=[name])["PlacementGroups"]

    assert [(g["GroupName"], g["Strategy"], g["State"]) for g in found] == [
        (name, "cluster", "available")
    ]
    assert found[0]["GroupArn"].endswith(f":placement-group/{name}")
    assert found[0]["Tags"] == [{"Key": "cluster", "Value": name}]


def test_filters_select_by_tag_and_strategy(ec2: Any, name: str) -> None:
    group_id = ec2.create_placement_group(GroupName=name, Strategy="spread")["PlacementGroup"][
        "GroupId"
    ]
    ec2.create_tags(Resources=[group_id], Tags=[{"Key": "owner", "Value": name}])

    def count(**values: str) -> int:
        filters = [{"Name": key, "Values": [value]} for key, value in values.items()]
        return len(ec2.describe_placement_groups(Filters=filters)["PlacementGroups"])

    assert count(**{"tag:owner": f"{name[:5]}*", "strategy": "spread"}) == 1
    assert count(**{"tag:owner": name, "strategy": "cluster"}) == 0


def test_two_groups_cannot_have_one_name(
    ec2: Any, placement_group: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(ec2.create_placement_group, GroupName=placement_group)

    assert refused.code == "InvalidPlacementGroup.Duplicate"


@pytest.mark.parametrize(
    ("params", "words"),
    [
        pytest.param({"Strategy": "ring"}, "enum value set: [cluster", id="strategy"),
        pytest.param({"Strategy": "partition", "PartitionCount": 8}, "between 1 and 7", id="many"),
        pytest.param({"Strategy": "cluster", "PartitionCount": 2}, "strategy partition", id="none"),
        pytest.param({"Strategy": "cluster", "SpreadLevel": "rack"}, "strategy spread", id="level"),
    ],
)
def test_impossible_groups_are_refused(
    ec2: Any, name: str, refusal: Callable[..., Any], params: dict[str, Any], words: str
) -> None:
    assert words in refusal(ec2.create_placement_group, GroupName=name, **params).message


def test_an_unknown_group_is_refused(ec2: Any, name: str, refusal: Callable[..., Any]) -> None:
    assert refusal(ec2.describe_placement_groups, GroupNames=[name]).code == (
        "InvalidPlacementGroup.Unknown"
    )
    assert refusal(ec2.delete_placement_group, GroupName=name).code == (
        "InvalidPlacementGroup.Unknown"
    )


def test_a_group_with_instances_is_not_deleted(
    ec2: Any, placement_group: str, subnet: str, refusal: Callable[..., Any]
) -> None:
    instance = ec2.run_instances(
        ImageId="ami-0123456789abcdef0",
        InstanceType="trn1.32xlarge",
        SubnetId=subnet,
        Placement={"GroupName": placement_group},
        MinCount=1,
        MaxCount=1,
    )["Instances"][0]["InstanceId"]

    refused = refusal(ec2.delete_placement_group, GroupName=placement_group)
    ec2.terminate_instances(InstanceIds=[instance])
    ec2.delete_placement_group(GroupName=placement_group)

    assert refused.code == "InvalidPlacementGroup.InUse"
    assert refusal(ec2.delete_placement_group, GroupName=placement_group).code == (
        "InvalidPlacementGroup.Unknown"
    )


def test_a_cluster_stays_in_one_zone(
    ec2: Any, placement_group: str, vpc: str, subnet: str, refusal: Callable[..., Any]
) -> None:
    elsewhere = ec2.create_subnet(
        VpcId=vpc, CidrBlock="10.20.16.0/20", AvailabilityZoneId="usw2-az1"
    )["Subnet"]["SubnetId"]
    launch = {
        "ImageId": "ami-0123456789abcdef0",
        "InstanceType": "trn1.32xlarge",
        "Placement": {"GroupName": placement_group},
        "MinCount": 1,
        "MaxCount": 1,
    }
    ec2.run_instances(**launch, SubnetId=subnet)

    refused = refusal(ec2.run_instances, **launch, SubnetId=elsewhere)

    assert "cannot span us-west-2b" in refused.message


def test_a_type_without_the_strategy_is_refused(
    ec2: Any, placement_group: str, subnet: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(
        ec2.run_instances,
        ImageId="ami-0123456789abcdef0",
        InstanceType="t3.micro",
        SubnetId=subnet,
        Placement={"GroupName": placement_group},
        MinCount=1,
        MaxCount=1,
    )

    assert "'t3.micro' is not supported by the 'cluster' placement strategy" in refused.message
