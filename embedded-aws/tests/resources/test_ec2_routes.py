"""Route tables, routes, elastic addresses and NAT gateways through their handlers."""

from typing import Any

import pytest

from embedded_aws.cloudformation.resource import HandlerError


@pytest.fixture
def table(deploy: Any, vpc: Any) -> Any:
    return deploy("AWS::EC2::RouteTable", "Table", VpcId=vpc.ref)


@pytest.fixture
def gateway(deploy: Any, vpc: Any) -> Any:
    gateway = deploy("AWS::EC2::InternetGateway")
    deploy("AWS::EC2::VPCGatewayAttachment", VpcId=vpc.ref, InternetGatewayId=gateway.ref)
    return gateway


def routes(client: Any, table: Any) -> dict[str, str]:
    """Targets by destination, without the route that every table has."""
    described = client("ec2").describe_route_tables(RouteTableIds=[table.ref])["RouteTables"][0]
    return {
        route["DestinationCidrBlock"]: route.get("GatewayId") or route["NatGatewayId"]
        for route in described["Routes"]
        if route.get("GatewayId") != "local"
    }


def test_a_route_leads_where_it_says_until_deleted(
    client: Any, deploy: Any, table: Any, gateway: Any
) -> None:
    route = deploy(
        "AWS::EC2::Route",
        RouteTableId=table.ref,
        DestinationCidrBlock="0.0.0.0/0",
        GatewayId=gateway.ref,
    )
    made = routes(client, table)

    route.delete()
    route.delete()

    assert route.ref == f"{table.ref}|0.0.0.0/0"
    assert made == {"0.0.0.0/0": gateway.ref}
    assert routes(client, table) == {}


def test_a_route_changes_its_target_in_place(
    client: Any, deploy: Any, table: Any, gateway: Any, subnet: Any
) -> None:
    address = deploy("AWS::EC2::EIP")
    nat = deploy(
        "AWS::EC2::NatGateway",
        SubnetId=subnet.ref,
        AllocationId=address.attributes["AllocationId"],
    )
    route = deploy(
        "AWS::EC2::Route",
        RouteTableId=table.ref,
        DestinationCidrBlock="0.0.0.0/0",
        GatewayId=gateway.ref,
    )

    route.update("GatewayId", NatGatewayId=nat.ref)

    assert routes(client, table) == {"0.0.0.0/0": nat.ref}


def test_a_subnet_is_associated_until_deleted(
    client: Any, deploy: Any, table: Any, subnet: Any
) -> None:
    association = deploy(
        "AWS::EC2::SubnetRouteTableAssociation", RouteTableId=table.ref, SubnetId=subnet.ref
    )
    of_subnet = [{"Name": "association.subnet-id", "Values": [subnet.ref]}]
    associated = client("ec2").describe_route_tables(Filters=of_subnet)["RouteTables"]

    association.delete()
    association.delete()
    table.delete()
    table.delete()

    assert [each["RouteTableId"] for each in associated] == [table.ref]
    assert client("ec2").describe_route_tables(Filters=of_subnet)["RouteTables"] == []


def test_an_address_is_allocated_and_released(client: Any, deploy: Any) -> None:
    address = deploy("AWS::EC2::EIP", Tags=[{"Key": "Name", "Value": "nat"}])
    described = client("ec2").describe_addresses(PublicIps=[address.ref])["Addresses"][0]

    address.delete()
    address.delete()

    assert described["AllocationId"] == address.attributes["AllocationId"]
    assert {"Key": "Name", "Value": "nat"} in described["Tags"]
    remaining = client("ec2").describe_addresses()["Addresses"]
    assert address.ref not in [each["PublicIp"] for each in remaining]


def test_a_nat_gateway_holds_its_address_until_deleted(
    client: Any, deploy: Any, gateway: Any, subnet: Any
) -> None:
    address = deploy("AWS::EC2::EIP")
    nat = deploy(
        "AWS::EC2::NatGateway",
        SubnetId=subnet.ref,
        AllocationId=address.attributes["AllocationId"],
    )
    described = client("ec2").describe_nat_gateways(NatGatewayIds=[nat.ref])["NatGateways"][0]

    nat.delete()
    address.delete()
    subnet.delete()

    assert described["NatGatewayAddresses"][0]["PublicIp"] == address.ref
    available = [{"Name": "state", "Values": ["available"]}]
    remaining = client("ec2").describe_nat_gateways(Filters=available)["NatGateways"]
    assert nat.ref not in [each["NatGatewayId"] for each in remaining]


def test_a_change_that_cannot_be_made_is_refused(deploy: Any, gateway: Any, subnet: Any) -> None:
    address = deploy("AWS::EC2::EIP")
    nat = deploy(
        "AWS::EC2::NatGateway",
        SubnetId=subnet.ref,
        AllocationId=address.attributes["AllocationId"],
    )

    with pytest.raises(HandlerError, match="cannot change SecondaryAllocationIds") as refusal:
        nat.update(SecondaryAllocationIds=["eipalloc-0"])

    assert refusal.value.code == "NotUpdatable"
