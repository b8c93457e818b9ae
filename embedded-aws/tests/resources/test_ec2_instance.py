"""Instances through their handler."""

import base64
from typing import Any

import pytest
from amis import own_ami

from embedded_aws.cloudformation.resource import HandlerError


@pytest.fixture
def instance(client: Any, deploy: Any, subnet: Any, group: Any) -> Any:
    return deploy(
        "AWS::EC2::Instance",
        ImageId=own_ami(client),
        InstanceType="m5.large",
        SubnetId=subnet.ref,
        SecurityGroupIds=[group.ref],
        Monitoring=True,
        SourceDestCheck=False,
        UserData=base64.b64encode(b"#!/bin/sh").decode(),
    )


def described(client: Any, instance: Any) -> dict[str, Any]:
    reply = client("ec2").describe_instances(InstanceIds=[instance.ref])
    found: dict[str, Any] = reply["Reservations"][0]["Instances"][0]
    return found


def test_an_instance_runs_as_the_template_says(
    client: Any, instance: Any, subnet: Any, group: Any
) -> None:
    found = described(client, instance)

    assert found["SubnetId"] == subnet.ref
    assert [each["GroupId"] for each in found["SecurityGroups"]] == [group.ref]
    assert found["SourceDestCheck"] is False
    assert found["PrivateIpAddress"] == instance.attributes["PrivateIp"]
    data = client("ec2").describe_instance_attribute(InstanceId=instance.ref, Attribute="userData")
    assert base64.b64decode(data["UserData"]["Value"]) == b"#!/bin/sh"


def test_an_instance_changes_its_type_in_place(client: Any, instance: Any) -> None:
    instance.update(InstanceType="m5.xlarge")

    found = described(client, instance)
    assert (found["InstanceType"], found["State"]["Name"]) == ("m5.xlarge", "running")


def test_an_instance_changes_its_groups_in_place(
    client: Any, deploy: Any, instance: Any, vpc: Any
) -> None:
    other = deploy("AWS::EC2::SecurityGroup", GroupDescription="other", VpcId=vpc.ref)

    instance.update(SecurityGroupIds=[other.ref])

    groups = described(client, instance)["SecurityGroups"]
    assert [each["GroupId"] for each in groups] == [other.ref]


def test_an_instance_has_the_groups_of_its_interface(
    client: Any, deploy: Any, instance: Any, subnet: Any, group: Any
) -> None:
    interface = {"DeviceIndex": "0", "SubnetId": subnet.ref, "GroupSet": [group.ref]}

    other = deploy(
        "AWS::EC2::Instance",
        ImageId=instance.attributes["ImageId"],
        InstanceType="m5.large",
        NetworkInterfaces=[interface],
        PlacementGroupName=deploy("AWS::EC2::PlacementGroup", Strategy="cluster").ref,
    )

    found = described(client, other)
    assert [each["GroupId"] for each in found["NetworkInterfaces"][0]["Groups"]] == [group.ref]
    assert found["Placement"]["GroupName"].startswith("Stack-Thing-")


def test_an_instance_refuses_a_change_that_nothing_can_make(instance: Any) -> None:
    with pytest.raises(HandlerError, match="cannot change Monitoring of a running instance"):
        instance.update(Monitoring=False)


def test_a_deleted_instance_is_terminated(client: Any, instance: Any) -> None:
    instance.delete()

    assert described(client, instance)["State"]["Name"] == "terminated"
