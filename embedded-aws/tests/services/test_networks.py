"""Subnets by zone id, and what can be deleted when."""

from collections.abc import Callable
from typing import Any

import pytest


def test_a_subnet_is_made_in_the_zone_with_the_id(ec2: Any, vpc: str) -> None:
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/24", AvailabilityZoneId="usw2-az4")[
        "Subnet"
    ]

    assert (subnet["AvailabilityZone"], subnet["AvailabilityZoneId"]) == ("us-west-2d", "usw2-az4")


def test_a_new_subnet_is_private_and_no_default(ec2: Any, vpc: str) -> None:
    made = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.20.{n}.0/24", **zone)["Subnet"]["SubnetId"]
        for n, zone in enumerate(
            [{"AvailabilityZoneId": "usw2-az2"}, {"AvailabilityZone": "us-west-2a"}, {}]
        )
    ]

    found = ec2.describe_subnets(SubnetIds=made)["Subnets"]

    assert {(s["MapPublicIpOnLaunch"], s["DefaultForAz"]) for s in found} == {(False, False)}


def test_the_first_subnet_of_a_zone_is_no_default_either(client: Callable[..., Any]) -> None:
    ec2 = client("ec2", "eu-north-1")
    zone = [{"Name": "availability-zone-id", "Values": ["eun1-az1"]}]
    for default in ec2.describe_subnets(Filters=zone)["Subnets"]:
        ec2.delete_subnet(SubnetId=default["SubnetId"])
    vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]

    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/24", AvailabilityZoneId="eun1-az1")

    assert subnet["Subnet"]["DefaultForAz"] is False
    assert subnet["Subnet"]["MapPublicIpOnLaunch"] is False


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        pytest.param(
            {"AvailabilityZoneId": "use1-az4"}, "usw2-az1, usw2-az2, usw2-az3, usw2-az4", id="id"
        ),
        pytest.param({"AvailabilityZone": "us-east-1a"}, "us-west-2a, us-west-2b", id="name"),
        pytest.param({"AvailabilityZone": "usw2-az4"}, "us-west-2a, us-west-2b", id="id-as-name"),
    ],
)
def test_a_zone_of_another_region_is_refused(
    ec2: Any, vpc: str, refusal: Callable[..., Any], zone: dict[str, str], words: str
) -> None:
    refused = refusal(ec2.create_subnet, VpcId=vpc, CidrBlock="10.20.0.0/24", **zone)

    assert refused.code == "InvalidParameterValue"
    assert words in refused.message


def test_an_empty_vpc_is_deleted(ec2: Any, vpc: str, subnet: str, group: str) -> None:
    ec2.delete_security_group(GroupId=group)
    ec2.delete_subnet(SubnetId=subnet)
    ec2.delete_vpc(VpcId=vpc)

    found = ec2.describe_vpcs(Filters=[{"Name": "vpc-id", "Values": [vpc]}])
    assert found["Vpcs"] == []


def test_a_vpc_with_a_security_group_is_not_deleted(
    ec2: Any, vpc: str, group: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(ec2.delete_vpc, VpcId=vpc)

    assert refused.code == "DependencyViolation"
    assert refused.message == f"The vpc '{vpc}' has dependencies and cannot be deleted."


def test_a_vpc_with_a_gateway_is_not_deleted(
    ec2: Any, vpc: str, internet_gateway: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(ec2.delete_vpc, VpcId=vpc)
    ec2.detach_internet_gateway(InternetGatewayId=internet_gateway, VpcId=vpc)
    ec2.delete_vpc(VpcId=vpc)

    assert refused.code == "DependencyViolation"


@pytest.fixture
def internet_gateway(ec2: Any, vpc: str) -> str:
    gateway_id: str = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway_id, VpcId=vpc)
    return gateway_id


def test_a_nat_gateway_holds_its_subnet_address_and_internet_gateway_until_deleted(
    ec2: Any, vpc: str, subnet: str, internet_gateway: str, refusal: Callable[..., Any]
) -> None:
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    attachment = {"InternetGatewayId": internet_gateway, "VpcId": vpc}
    gateway = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]

    held = [
        refusal(ec2.delete_subnet, SubnetId=subnet),
        refusal(ec2.release_address, AllocationId=address),
        refusal(ec2.detach_internet_gateway, **attachment),
    ]
    ec2.delete_nat_gateway(NatGatewayId=gateway["NatGatewayId"])
    ec2.release_address(AllocationId=address)
    ec2.detach_internet_gateway(**attachment)
    ec2.delete_subnet(SubnetId=subnet)

    assert held[0].message == f"The subnet '{subnet}' has dependencies and cannot be deleted."
    assert held[1].code == "InvalidIPAddress.InUse"
    assert "has some mapped public address(es)" in held[2].message


@pytest.mark.parametrize(
    "targets",
    [
        pytest.param({}, id="none"),
        pytest.param({"GatewayId": "igw-0", "NatGatewayId": "nat-0"}, id="two"),
    ],
)
def test_a_route_has_one_target(
    ec2: Any, vpc: str, refusal: Callable[..., Any], targets: dict[str, str]
) -> None:
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]

    refused = refusal(
        ec2.create_route, RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", **targets
    )

    assert "exactly one of" in refused.message


def test_a_public_nat_gateway_needs_an_internet_gateway(
    ec2: Any, subnet: str, refusal: Callable[..., Any]
) -> None:
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]

    refused = refusal(ec2.create_nat_gateway, SubnetId=subnet, AllocationId=address)

    assert refused.code == "Gateway.NotAttached"


def test_an_endpoint_uses_the_security_groups_it_was_given(
    ec2: Any, vpc: str, subnet: str, group: str, refusal: Callable[..., Any]
) -> None:
    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc,
        ServiceName="com.amazonaws.us-west-2.ecr.api",
        VpcEndpointType="Interface",
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
    )["VpcEndpoint"]

    refused = refusal(ec2.delete_security_group, GroupId=group)
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint["VpcEndpointId"]])
    ec2.delete_security_group(GroupId=group)

    assert refused.code == "DependencyViolation"


def test_an_interface_takes_groups_of_its_own_vpc_only(
    ec2: Any, subnet: str, group: str, foreign_group: str, refusal: Callable[..., Any]
) -> None:
    foreign = refusal(ec2.create_network_interface, SubnetId=subnet, Groups=[foreign_group])
    unknown = refusal(
        ec2.create_network_interface, SubnetId=subnet, Groups=["sg-0123456789abcdef0"]
    )
    made = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]

    assert "belong to different networks" in foreign.message
    assert unknown.code == "InvalidGroup.NotFound"
    assert [one["GroupId"] for one in made["Groups"]] == [group]


def test_the_routes_to_a_gateway_endpoint_follow_its_route_tables(ec2: Any, vpc: str) -> None:
    tables = [ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2)]

    def routed() -> list[bool]:
        found = ec2.describe_route_tables(RouteTableIds=tables)["RouteTables"]
        by_id = {each["RouteTableId"]: each["Routes"] for each in found}
        return [any("DestinationPrefixListId" in route for route in by_id[name]) for name in tables]

    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc, ServiceName="com.amazonaws.us-west-2.s3", RouteTableIds=tables[:1]
    )["VpcEndpoint"]["VpcEndpointId"]
    assert routed() == [True, False]

    ec2.modify_vpc_endpoint(
        VpcEndpointId=endpoint, AddRouteTableIds=tables[1:], RemoveRouteTableIds=tables[:1]
    )

    assert routed() == [False, True]
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
    assert routed() == [False, False]
    # Nothing of it holds the VPC.
    for table in tables:
        ec2.delete_route_table(RouteTableId=table)
    ec2.delete_vpc(VpcId=vpc)
