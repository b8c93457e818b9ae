"""VPCs, gateways and subnets through their handlers."""

from typing import Any

import pytest


def tags_of(described: dict[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in described["Tags"]}


def test_a_vpc_has_its_names_switched_as_the_template_says(client: Any, deploy: Any) -> None:
    ec2 = client("ec2")

    vpc = deploy("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", EnableDnsHostnames=True)

    answer = ec2.describe_vpc_attribute(VpcId=vpc.ref, Attribute="enableDnsHostnames")
    assert answer["EnableDnsHostnames"] == {"Value": True}
    vpc.update("EnableDnsHostnames")
    answer = ec2.describe_vpc_attribute(VpcId=vpc.ref, Attribute="enableDnsHostnames")
    assert answer["EnableDnsHostnames"] == {"Value": False}


def test_a_resource_carries_the_stacks_tags_under_its_own(client: Any, deploy: Any) -> None:
    tag = {"Key": "Owner", "Value": "somebody"}

    vpc = deploy("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", Tags=[tag])

    described = client("ec2").describe_vpcs(VpcIds=[vpc.ref])["Vpcs"][0]
    assert tags_of(described) == {"aws:cloudformation:stack-name": "Stack", "Owner": "somebody"}


def test_an_update_sets_and_removes_tags(client: Any, deploy: Any) -> None:
    old, new = {"Key": "old", "Value": "1"}, {"Key": "new", "Value": "2"}
    vpc = deploy("AWS::EC2::VPC", CidrBlock="10.0.0.0/16", Tags=[old])

    vpc.update(Tags=[new])

    described = client("ec2").describe_vpcs(VpcIds=[vpc.ref])["Vpcs"][0]
    assert tags_of(described).get("new") == "2"
    assert "old" not in tags_of(described)


def test_a_deleted_vpc_is_gone_and_may_be_deleted_again(client: Any, deploy: Any) -> None:
    vpc = deploy("AWS::EC2::VPC", CidrBlock="10.0.0.0/16")

    vpc.delete()
    vpc.delete()

    ids = [each["VpcId"] for each in client("ec2").describe_vpcs()["Vpcs"]]
    assert vpc.ref not in ids


def test_a_gateway_is_attached_and_detached(client: Any, deploy: Any, vpc: Any) -> None:
    gateway = deploy("AWS::EC2::InternetGateway")
    attachment = deploy(
        "AWS::EC2::VPCGatewayAttachment", VpcId=vpc.ref, InternetGatewayId=gateway.ref
    )
    described = client("ec2").describe_internet_gateways(InternetGatewayIds=[gateway.ref])
    attached = described["InternetGateways"][0]["Attachments"]

    attachment.delete()
    attachment.delete()
    gateway.delete()
    gateway.delete()

    assert [each["VpcId"] for each in attached] == [vpc.ref]
    assert attachment.ref == f"IGW|{vpc.ref}"
    described = client("ec2").describe_internet_gateways()["InternetGateways"]
    assert gateway.ref not in [each["InternetGatewayId"] for each in described]


def test_an_attachment_moves_to_another_gateway(client: Any, deploy: Any, vpc: Any) -> None:
    first, second = deploy("AWS::EC2::InternetGateway"), deploy("AWS::EC2::InternetGateway")
    attachment = deploy(
        "AWS::EC2::VPCGatewayAttachment", VpcId=vpc.ref, InternetGatewayId=first.ref
    )

    attachment.update(InternetGatewayId=second.ref)

    attached = [{"Name": "attachment.vpc-id", "Values": [vpc.ref]}]
    described = client("ec2").describe_internet_gateways(Filters=attached)["InternetGateways"]
    assert [each["InternetGatewayId"] for each in described] == [second.ref]


@pytest.mark.parametrize(
    ("zone", "zone_id"), [({"AvailabilityZone": "us-west-2b"}, None), ({}, "usw2-az4")]
)
def test_a_subnet_lies_where_it_was_put(
    client: Any, deploy: Any, vpc: Any, zone: dict[str, str], zone_id: str | None
) -> None:
    zone = zone or {"AvailabilityZoneId": str(zone_id)}

    subnet = deploy("AWS::EC2::Subnet", VpcId=vpc.ref, CidrBlock="10.20.32.0/20", **zone)

    described = client("ec2").describe_subnets(SubnetIds=[subnet.ref])["Subnets"][0]
    assert {name: described[name] for name in zone} == zone
    assert subnet.attributes["AvailabilityZone"] == described["AvailabilityZone"]


def test_a_subnet_gives_public_addresses_only_when_reported(client: Any, subnet: Any) -> None:
    ec2 = client("ec2")
    before = ec2.describe_subnets(SubnetIds=[subnet.ref])["Subnets"][0]["MapPublicIpOnLaunch"]

    subnet.update(MapPublicIpOnLaunch=True)
    refused = ec2.describe_subnets(SubnetIds=[subnet.ref])["Subnets"][0]["MapPublicIpOnLaunch"]
    subnet.update("MapPublicIpOnLaunch")
    after = ec2.describe_subnets(SubnetIds=[subnet.ref])["Subnets"][0]["MapPublicIpOnLaunch"]

    assert (before, refused, after) == (False, True, False)


def test_a_deleted_subnet_is_gone(client: Any, subnet: Any) -> None:
    subnet.delete()
    subnet.delete()

    described = client("ec2").describe_subnets()["Subnets"]
    assert subnet.ref not in [each["SubnetId"] for each in described]
