"""Networks for instances of tests."""

from typing import Any


def add_nat(ec2: Any, subnet: str) -> None:
    """Lead the VPC's main route table to a NAT gateway, so that instances reach AWS.

    Args:
        ec2: a client.
        subnet: of the VPC.
    """
    gateway = ec2.create_nat_gateway(SubnetId=subnet, ConnectivityType="private")["NatGateway"]
    main = {"Name": "association.main", "Values": ["true"]}
    of_vpc = {"Name": "vpc-id", "Values": [gateway["VpcId"]]}
    [table] = ec2.describe_route_tables(Filters=[main, of_vpc])["RouteTables"]
    ec2.create_route(
        RouteTableId=table["RouteTableId"],
        DestinationCidrBlock="0.0.0.0/0",
        NatGatewayId=gateway["NatGatewayId"],
    )
