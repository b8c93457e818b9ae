"""Capacity reservations and capacity blocks."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest


@pytest.fixture
def wanted() -> dict[str, Any]:
    return {
        "InstanceType": "trn1.32xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZoneId": "usw2-az4",
        "InstanceCount": 4,
    }


def test_a_reservation_lives_until_it_is_cancelled(ec2: Any, wanted: dict[str, Any]) -> None:
    reservation = ec2.create_capacity_reservation(**wanted)["CapacityReservation"]
    reservation_id = reservation["CapacityReservationId"]

    def shown() -> tuple[str, int]:
        found = ec2.describe_capacity_reservations(CapacityReservationIds=[reservation_id])
        (one,) = found["CapacityReservations"]
        return one["State"], one["TotalInstanceCount"]

    assert shown() == ("active", 4)
    ec2.modify_capacity_reservation(CapacityReservationId=reservation_id, InstanceCount=8)
    assert shown() == ("active", 8)
    ec2.cancel_capacity_reservation(CapacityReservationId=reservation_id)
    assert shown()[0] == "cancelled"
    assert reservation["AvailabilityZone"] == "us-west-2d"


def test_reservations_are_found_by_filter_and_tag(
    ec2: Any, name: str, wanted: dict[str, Any]
) -> None:
    made = ec2.create_capacity_reservation(
        **wanted,
        TagSpecifications=[
            {"ResourceType": "capacity-reservation", "Tags": [{"Key": "owner", "Value": name}]}
        ],
    )["CapacityReservation"]

    found = ec2.describe_capacity_reservations(
        Filters=[
            {"Name": "tag:owner", "Values": [name]},
            {"Name": "instance-type", "Values": ["trn1.*"]},
        ]
    )["CapacityReservations"]

    assert [one["CapacityReservationId"] for one in found] == [made["CapacityReservationId"]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"AvailabilityZoneId": "usw2-az2"}, "not supported in your", id="zone"),
        pytest.param({"AvailabilityZoneId": "use1-az1"}, "Invalid availability zone", id="region"),
        pytest.param({"InstanceType": "dl1.24xlarge"}, "dl1.24xlarge", id="withdrawn"),
        pytest.param({"InstancePlatform": "Plan 9"}, "Plan 9", id="platform"),
        pytest.param({"InstanceCount": 0}, "1 to 1000", id="count"),
        pytest.param({"EndDateType": "limited"}, "EndDate is required", id="end"),
        pytest.param(
            {
                "StartDate": datetime.now(UTC) + timedelta(days=30),
                "InstanceMatchCriteria": "targeted",
            },
            "Future-dated",
            id="future-trn1",
        ),
        pytest.param(
            {
                "InstanceType": "inf2.48xlarge",
                "AvailabilityZoneId": "usw2-az1",
                "StartDate": datetime.now(UTC) + timedelta(days=30),
                "InstanceMatchCriteria": "targeted",
            },
            "Future-dated",
            id="future-inf2",
        ),
    ],
)
def test_impossible_reservations_are_refused(
    ec2: Any,
    wanted: dict[str, Any],
    refusal: Callable[..., Any],
    change: dict[str, Any],
    words: str,
) -> None:
    assert words in refusal(ec2.create_capacity_reservation, **{**wanted, **change}).message


def test_a_reservation_in_a_placement_group_fixes_its_zone(
    ec2: Any, wanted: dict[str, Any], placement_group: str, refusal: Callable[..., Any]
) -> None:
    (group,) = ec2.describe_placement_groups(GroupNames=[placement_group])["PlacementGroups"]
    wanted["PlacementGroupArn"] = group["GroupArn"]
    made = ec2.create_capacity_reservation(**wanted)["CapacityReservation"]

    elsewhere = refusal(
        ec2.create_capacity_reservation, **{**wanted, "AvailabilityZoneId": "usw2-az1"}
    )
    in_use = refusal(ec2.delete_placement_group, GroupName=placement_group)
    ec2.cancel_capacity_reservation(CapacityReservationId=made["CapacityReservationId"])
    ec2.delete_placement_group(GroupName=placement_group)

    assert "cannot span us-west-2b" in elsewhere.message
    assert in_use.code == "InvalidPlacementGroup.InUse"


def test_a_launch_into_a_reservation_of_another_type_is_refused(
    ec2: Any, wanted: dict[str, Any], subnet: str, refusal: Callable[..., Any]
) -> None:
    made = ec2.create_capacity_reservation(**wanted)["CapacityReservation"]
    target = {"CapacityReservationId": made["CapacityReservationId"]}

    refused = refusal(
        ec2.run_instances,
        ImageId="ami-0123456789abcdef0",
        InstanceType="p4d.24xlarge",
        SubnetId=subnet,
        CapacityReservationSpecification={"CapacityReservationTarget": target},
        MinCount=1,
        MaxCount=1,
    )

    assert "does not match the launch" in refused.message


def test_a_reservation_is_used_up(
    ec2: Any, wanted: dict[str, Any], subnet: str, refusal: Callable[..., Any]
) -> None:
    made = ec2.create_capacity_reservation(**wanted)["CapacityReservation"]
    target = {"CapacityReservationId": made["CapacityReservationId"]}
    launch = {
        "ImageId": "ami-0123456789abcdef0",
        "InstanceType": "trn1.32xlarge",
        "SubnetId": subnet,
        "CapacityReservationSpecification": {"CapacityReservationTarget": target},
        "MinCount": 3,
        "MaxCount": 3,
    }

    def free() -> int:
        found = ec2.describe_capacity_reservations(CapacityReservationIds=[*target.values()])
        available: int = found["CapacityReservations"][0]["AvailableInstanceCount"]
        return available

    instances = ec2.run_instances(**launch)["Instances"]
    left = free()
    full = refusal(ec2.run_instances, **launch)
    small = refusal(ec2.modify_capacity_reservation, **target, InstanceCount=2)
    ec2.terminate_instances(InstanceIds=[instance["InstanceId"] for instance in instances])

    assert (left, free()) == (1, 4)
    assert full.code == "ReservationCapacityExceeded"
    assert "no less than the instances in use" in small.message


def test_a_purchased_block_is_a_reservation_for_later(
    ec2: Any, subnet: str, refusal: Callable[..., Any]
) -> None:
    offerings = ec2.describe_capacity_block_offerings(
        InstanceType="trn1.32xlarge", InstanceCount=2, CapacityDurationHours=48
    )["CapacityBlockOfferings"]
    offering = next(o for o in offerings if o["AvailabilityZone"] == "us-west-2d")

    block = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]

    assert (block["ReservationType"], block["State"]) == ("capacity-block", "scheduled")
    assert block["EndDate"] - block["StartDate"] == timedelta(days=2)
    target = {"CapacityReservationId": block["CapacityReservationId"]}
    early = refusal(
        ec2.run_instances,
        ImageId="ami-0123456789abcdef0",
        InstanceType="trn1.32xlarge",
        SubnetId=subnet,
        InstanceMarketOptions={"MarketType": "capacity-block"},
        CapacityReservationSpecification={"CapacityReservationTarget": target},
        MinCount=1,
        MaxCount=1,
    )
    assert "is scheduled with 0 free" in early.message
    refused = refusal(ec2.cancel_capacity_reservation, **target)
    assert "Capacity Blocks cannot be modified or cancelled" in refused.message


@pytest.fixture
def pool(client: Any, name: str) -> Any:
    """A resource group that launches may name, deleted afterwards."""
    groups = client("resource-groups")
    kinds = [{"Type": "AWS::EC2::CapacityReservationPool"}]
    arn = groups.create_group(Name=name, Configuration=kinds)["Group"]["GroupArn"]
    yield arn
    groups.delete_group(Group=arn)


def test_a_launch_uses_the_reservations_of_a_group_and_then_runs_on_demand(
    client: Any, ec2: Any, wanted: dict[str, Any], subnet: str, pool: str
) -> None:
    small, other = (
        ec2.create_capacity_reservation(**{**wanted, **fields})["CapacityReservation"]
        for fields in ({"InstanceCount": 2}, {"InstanceType": "trn1.2xlarge", "InstanceCount": 1})
    )
    groups = client("resource-groups")
    arns = [each["CapacityReservationArn"] for each in (small, other)]
    gone = f"{arns[0][:-17]}00000000000000000"

    added = groups.group_resources(Group=pool, ResourceArns=[*arns, gone])
    members = groups.list_group_resources(Group=pool)["ResourceIdentifiers"]
    launched = ec2.run_instances(
        ImageId="ami-0123456789abcdef0",
        InstanceType="trn1.32xlarge",
        SubnetId=subnet,
        CapacityReservationSpecification={
            "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": pool}
        },
        MinCount=3,
        MaxCount=3,
    )["Instances"]
    free = [
        each["AvailableInstanceCount"]
        for each in ec2.describe_capacity_reservations(
            CapacityReservationIds=[arn.rpartition("/")[2] for arn in arns]
        )["CapacityReservations"]
    ]
    ec2.terminate_instances(InstanceIds=[each["InstanceId"] for each in launched])

    assert added["Succeeded"] == arns
    assert [each["ResourceArn"] for each in added["Failed"]] == [gone]
    assert [each["ResourceArn"] for each in members] == arns
    assert free == [0, 1]


def test_a_reservation_leaves_its_group(
    client: Any, ec2: Any, wanted: dict[str, Any], pool: str, name: str, refusal: Callable[..., Any]
) -> None:
    groups = client("resource-groups")
    arns = [
        ec2.create_capacity_reservation(**wanted)["CapacityReservation"]["CapacityReservationArn"]
        for _ in range(2)
    ]
    groups.group_resources(Group=pool, ResourceArns=arns)
    plain = groups.create_group(Name=f"{name}-plain", Configuration=[])["Group"]["GroupArn"]

    left = groups.ungroup_resources(Group=pool, ResourceArns=arns[:1])
    refused = refusal(groups.ungroup_resources, Group=plain, ResourceArns=arns)

    members = groups.list_group_resources(Group=pool)["ResourceIdentifiers"]
    assert (left["Succeeded"], [each["ResourceArn"] for each in members]) == (arns[:1], arns[1:])
    assert refused.code == "BadRequestException"


def test_a_launch_into_blocks_of_a_group_does_not_run_on_demand(
    client: Any, ec2: Any, subnet: str, pool: str, name: str, refusal: Callable[..., Any]
) -> None:
    groups = client("resource-groups")
    plain = groups.create_group(Name=f"{name}-plain", Configuration=[])["Group"]["GroupArn"]

    def refused(group: str) -> Any:
        return refusal(
            ec2.run_instances,
            ImageId="ami-0123456789abcdef0",
            InstanceType="trn1.32xlarge",
            SubnetId=subnet,
            InstanceMarketOptions={"MarketType": "capacity-block"},
            CapacityReservationSpecification={
                "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": group}
            },
            MinCount=1,
            MaxCount=1,
        )

    empty, no_pool, absent = refused(pool), refused(plain), refused(f"{pool}x")
    not_taken = refusal(groups.group_resources, Group=plain, ResourceArns=[plain])
    groups.delete_group(Group=plain)

    assert empty.code == "ReservationCapacityExceeded"
    assert "is not of type AWS::EC2::CapacityReservationPool" in no_pool.message
    assert "Cannot find the group" in absent.message
    assert not_taken.code == "BadRequestException"


def test_what_runs_in_reservations_of_a_group_only_does_not_run_on_demand(
    client: Any,
    ec2: Any,
    wanted: dict[str, Any],
    subnet: str,
    pool: str,
    name: str,
    refusal: Callable[..., Any],
) -> None:
    made = ec2.create_capacity_reservation(**{**wanted, "InstanceCount": 1})["CapacityReservation"]
    client("resource-groups").group_resources(
        Group=pool, ResourceArns=[made["CapacityReservationArn"]]
    )
    reserved = {
        "CapacityReservationPreference": "capacity-reservations-only",
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": pool},
    }
    ec2.create_launch_template(
        LaunchTemplateName=name,
        LaunchTemplateData={
            "InstanceType": "trn1.32xlarge",
            "ImageId": "ami-0123456789abcdef0",
            "CapacityReservationSpecification": reserved,
        },
    )
    launch = {"LaunchTemplate": {"LaunchTemplateName": name}, "SubnetId": subnet}

    [launched] = ec2.run_instances(**launch, MinCount=1, MaxCount=1)["Instances"]
    full = refusal(ec2.run_instances, **launch, MinCount=1, MaxCount=1)
    ec2.terminate_instances(InstanceIds=[launched["InstanceId"]])
    ec2.delete_launch_template(LaunchTemplateName=name)

    assert full.code == "ReservationCapacityExceeded"


@pytest.mark.parametrize(
    ("instance_type", "hours", "words"),
    [
        pytest.param("trn1n.32xlarge", 24, "not supported for instance type", id="type"),
        pytest.param("trn1.32xlarge", 25, "whole days", id="hours"),
        pytest.param("trn1.32xlarge", 24 * 15, "whole weeks", id="days"),
    ],
)
def test_impossible_blocks_are_refused(
    ec2: Any, refusal: Callable[..., Any], instance_type: str, hours: int, words: str
) -> None:
    refused = refusal(
        ec2.describe_capacity_block_offerings,
        InstanceType=instance_type,
        InstanceCount=1,
        CapacityDurationHours=hours,
    )

    assert words in refused.message


def test_a_type_without_zones_has_no_offerings(ec2: Any) -> None:
    found = ec2.describe_capacity_block_offerings(
        InstanceType="trn2.48xlarge", InstanceCount=1, CapacityDurationHours=24
    )

    assert found["CapacityBlockOfferings"] == []
