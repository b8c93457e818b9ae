"""The default VPC, and calls that name no VPC."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws

AMAZON_LINUX = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"


def test_a_group_without_a_vpc_is_the_default_vpcs(clean_aws: EmbeddedAws) -> None:
    ec2 = clean_aws.client("ec2")
    vpc = ec2.create_default_vpc()["Vpc"]["VpcId"]
    of_vpc: list[Any] = [{"Name": "vpc-id", "Values": [vpc]}]
    subnet = ec2.describe_subnets(Filters=of_vpc)["Subnets"][0]["SubnetId"]
    group = ec2.create_security_group(GroupName="peers", Description="peers")["GroupId"]
    image = clean_aws.client("ssm").get_parameter(Name=AMAZON_LINUX)["Parameter"]["Value"]

    launched = ec2.run_instances(
        ImageId=image,
        InstanceType="t3.micro",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnet,
        SecurityGroupIds=[group],
    )

    assert launched["Instances"][0]["VpcId"] == vpc


def test_without_a_default_vpc_a_group_needs_one(clean_aws: EmbeddedAws) -> None:
    ec2 = clean_aws.client("ec2")

    with pytest.raises(ClientError, match="No default VPC for this user"):
        ec2.create_security_group(GroupName="peers", Description="peers")


def test_a_default_vpc_reaches_the_internet(clean_aws: EmbeddedAws) -> None:
    ec2 = clean_aws.client("ec2")

    vpc = ec2.create_default_vpc()["Vpc"]["VpcId"]

    [table] = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])[
        "RouteTables"
    ]
    attached = [{"Name": "attachment.vpc-id", "Values": [vpc]}]
    [gateway] = ec2.describe_internet_gateways(Filters=attached)["InternetGateways"]
    routes = {route["DestinationCidrBlock"]: route["GatewayId"] for route in table["Routes"]}
    assert routes["0.0.0.0/0"] == gateway["InternetGatewayId"]
