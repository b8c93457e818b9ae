"""Placement groups, launch templates and capacity reservations through their handlers."""

from typing import Any

import pytest

from embedded_aws.cloudformation.resource import HandlerError

TAG = {"Key": "Name", "Value": "node"}


def test_a_placement_group_is_named_after_stack_and_resource(client: Any, deploy: Any) -> None:
    ec2 = client("ec2")

    group = deploy("AWS::EC2::PlacementGroup", "Peers", Strategy="cluster", Tags=[TAG])

    described = ec2.describe_placement_groups(GroupNames=[group.ref])["PlacementGroups"][0]
    assert group.ref.startswith("Stack-Peers-")
    assert described["Strategy"] == "cluster"
    assert described["GroupId"] == group.attributes["GroupId"]
    assert TAG in described["Tags"]
    group.delete()
    group.delete()
    remaining = ec2.describe_placement_groups()["PlacementGroups"]
    assert group.ref not in [each["GroupName"] for each in remaining]


def test_a_changed_launch_template_has_a_new_version_and_the_old_default(
    client: Any, deploy: Any
) -> None:
    template = deploy(
        "AWS::EC2::LaunchTemplate", LaunchTemplateData={"InstanceType": "trn1.2xlarge"}
    )

    template.update(LaunchTemplateData={"InstanceType": "trn1.32xlarge"})

    assert template.attributes["LatestVersionNumber"] == "2"
    assert template.attributes["DefaultVersionNumber"] == "1"
    versions = client("ec2").describe_launch_template_versions(LaunchTemplateId=template.ref)
    types = {
        version["VersionNumber"]: version["LaunchTemplateData"]["InstanceType"]
        for version in versions["LaunchTemplateVersions"]
    }
    assert types == {1: "trn1.2xlarge", 2: "trn1.32xlarge"}


def test_a_launch_template_keeps_its_version_when_only_tags_change(
    client: Any, deploy: Any
) -> None:
    template = deploy(
        "AWS::EC2::LaunchTemplate", LaunchTemplateData={"InstanceType": "trn1.2xlarge"}
    )

    template.update(TagSpecifications=[{"ResourceType": "launch-template", "Tags": [TAG]}])

    assert template.attributes["LatestVersionNumber"] == "1"
    of_template = [{"Name": "resource-id", "Values": [template.ref]}]
    tags = client("ec2").describe_tags(Filters=of_template)["Tags"]
    assert TAG["Value"] in [tag["Value"] for tag in tags if tag["Key"] == TAG["Key"]]


def test_a_tag_that_leaves_the_template_leaves_the_resource(client: Any, deploy: Any) -> None:
    template = deploy(
        "AWS::EC2::LaunchTemplate",
        LaunchTemplateData={"InstanceType": "trn1.2xlarge"},
        TagSpecifications=[{"ResourceType": "launch-template", "Tags": [TAG]}],
    )

    template.update("TagSpecifications")

    of_template = [{"Name": "resource-id", "Values": [template.ref]}]
    tags = client("ec2").describe_tags(Filters=of_template)["Tags"]
    assert (TAG["Key"], TAG["Value"]) not in [(tag["Key"], tag["Value"]) for tag in tags]


def test_a_launch_template_keeps_its_interfaces_as_written(
    client: Any, deploy: Any, group: Any
) -> None:
    interface = {
        "NetworkCardIndex": 1,
        "DeviceIndex": 1,
        "InterfaceType": "efa",
        "Groups": [group.ref],
    }

    template = deploy(
        "AWS::EC2::LaunchTemplate",
        LaunchTemplateData={"InstanceType": "trn1.32xlarge", "NetworkInterfaces": [interface]},
    )

    versions = client("ec2").describe_launch_template_versions(LaunchTemplateId=template.ref)
    data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    assert data["NetworkInterfaces"] == [interface]
    template.delete()
    template.delete()
    remaining = client("ec2").describe_launch_templates()["LaunchTemplates"]
    assert template.ref not in [each["LaunchTemplateId"] for each in remaining]


def test_a_capacity_reservation_grows_in_place_and_is_cancelled(client: Any, deploy: Any) -> None:
    ec2 = client("ec2")
    reservation = deploy(
        "AWS::EC2::CapacityReservation",
        InstanceType="trn1.32xlarge",
        InstancePlatform="Linux/UNIX",
        InstanceCount=2,
        AvailabilityZoneId="usw2-az4",
        TagSpecifications=[{"ResourceType": "capacity-reservation", "Tags": [TAG]}],
    )

    reservation.update(InstanceCount=4)

    ids = [reservation.ref]
    described = ec2.describe_capacity_reservations(CapacityReservationIds=ids)
    assert described["CapacityReservations"][0]["TotalInstanceCount"] == 4
    assert TAG in described["CapacityReservations"][0]["Tags"]
    assert reservation.attributes["TotalInstanceCount"] == 4
    reservation.delete()
    described = ec2.describe_capacity_reservations(CapacityReservationIds=ids)
    assert described["CapacityReservations"][0]["State"] == "cancelled"


def test_what_no_operation_changes_is_refused_before_anything_changes(
    client: Any, deploy: Any
) -> None:
    reservation = deploy(
        "AWS::EC2::CapacityReservation",
        InstanceType="trn1.32xlarge",
        InstancePlatform="Linux/UNIX",
        InstanceCount=2,
        AvailabilityZoneId="usw2-az4",
    )

    with pytest.raises(HandlerError, match="cannot change UnusedReservationBillingOwnerId") as it:
        reservation.update(InstanceCount=4, UnusedReservationBillingOwnerId="1" * 12)

    found = client("ec2").describe_capacity_reservations(CapacityReservationIds=[reservation.ref])
    assert it.value.code == "NotUpdatable"
    assert found["CapacityReservations"][0]["TotalInstanceCount"] == 2
