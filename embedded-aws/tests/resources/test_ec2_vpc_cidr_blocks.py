"""Further ranges of VPCs through their handler, and through a template that builds on them."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.cloudformation.resource import HandlerError
from embedded_aws.embedded import EmbeddedAws

TEMPLATE = {
    "Resources": {
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.192.0.0/16"}},
        "Nodes": {
            "Type": "AWS::EC2::VPCCidrBlock",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.1.0.0/16"},
        },
        "Ipv6": {
            "Type": "AWS::EC2::VPCCidrBlock",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "AmazonProvidedIpv6CidrBlock": True},
        },
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "DependsOn": ["Nodes", "Ipv6"],
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "CidrBlock": "10.1.0.0/20",
                "Ipv6CidrBlock": {
                    "Fn::Select": [
                        0,
                        {
                            "Fn::Cidr": [
                                {"Fn::Select": [0, {"Fn::GetAtt": ["Vpc", "Ipv6CidrBlocks"]}]},
                                1,
                                64,
                            ]
                        },
                    ]
                },
            },
        },
    },
    "Outputs": {"Subnet": {"Value": {"Ref": "Subnet"}}},
}


def test_subnets_lie_in_the_ranges_that_were_added(clean_aws: EmbeddedAws) -> None:
    deployment = clean_aws.deploy(TEMPLATE, stack_name="Ranges")

    ec2 = clean_aws.client("ec2")
    [subnet] = ec2.describe_subnets(SubnetIds=[deployment.outputs["Subnet"]])["Subnets"]
    assert subnet["CidrBlock"] == "10.1.0.0/20"
    assert subnet["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"].endswith("/64")
    cloudformation = clean_aws.client("cloudformation")
    cloudformation.delete_stack(StackName="Ranges")
    cloudformation.get_waiter("stack_delete_complete").wait(StackName="Ranges")
    assert ec2.describe_vpcs()["Vpcs"] == []


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        pytest.param({"CidrBlock": "10.21.0.0/40"}, "not a valid CIDR block", id="no-range"),
        pytest.param({"CidrBlock": "10.22.0.0/15"}, "is invalid", id="large"),
        pytest.param({"CidrBlock": "10.22.0.0/29"}, "is invalid", id="small"),
        pytest.param({"CidrBlock": "10.20.8.0/24"}, "conflicts with another", id="overlap"),
        pytest.param({"CidrBlock": "172.16.0.0/16"}, "is restricted", id="other-private"),
        pytest.param({"CidrBlock": "198.19.0.0/16"}, "is restricted", id="reserved"),
        pytest.param({}, "should be provided", id="none"),
        pytest.param(
            {"CidrBlock": "10.21.0.0/16", "AmazonProvidedIpv6CidrBlock": True},
            "Only one of",
            id="both",
        ),
    ],
)
def test_ranges_that_ec2_refuses(
    deploy: Any, vpc: Any, properties: dict[str, Any], words: str
) -> None:
    with pytest.raises(ClientError, match=words):
        deploy("AWS::EC2::VPCCidrBlock", VpcId=vpc.ref, **properties)


def test_a_range_is_kept_in_its_canonical_form(client: Any, deploy: Any, vpc: Any) -> None:
    deploy("AWS::EC2::VPCCidrBlock", VpcId=vpc.ref, CidrBlock="10.21.0.9/16")

    [described] = client("ec2").describe_vpcs(VpcIds=[vpc.ref])["Vpcs"]
    ranges = [each["CidrBlock"] for each in described["CidrBlockAssociationSet"]]
    assert ranges == ["10.20.0.0/16", "10.21.0.0/16"]


def test_a_pool_of_ipam_is_refused(deploy: Any, vpc: Any) -> None:
    with pytest.raises(HandlerError, match="cannot set Ipv4IpamPoolId"):
        deploy("AWS::EC2::VPCCidrBlock", VpcId=vpc.ref, Ipv4IpamPoolId="ipam-pool-1")


def test_a_range_with_a_subnet_stays(deploy: Any, vpc: Any) -> None:
    block = deploy("AWS::EC2::VPCCidrBlock", VpcId=vpc.ref, CidrBlock="10.21.0.0/16")
    subnet = deploy("AWS::EC2::Subnet", VpcId=vpc.ref, CidrBlock="10.21.0.0/20")

    with pytest.raises(ClientError, match="in use by a subnet"):
        block.delete()

    subnet.delete()
    block.delete()
    block.delete()
