"""TcpSecurityGroup in a template."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from trainshed_constructs import ConstructError, TcpSecurityGroup


def build(*ports: ec2.Port) -> Template:
    stack = cdk.Stack(cdk.App(), "Stack")
    vpc = ec2.Vpc.from_vpc_attributes(
        stack, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    TcpSecurityGroup(stack, "Peers", vpc=vpc, internet_egress=ports)
    return Template.from_stack(stack)


@pytest.mark.parametrize(
    ("kind", "peer"),
    [("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")],
)
def test_tcp_alone_flows_between_members(kind: str, peer: str) -> None:
    template = build(ec2.Port.tcp(443))

    [(name, _)] = template.find_resources("AWS::EC2::SecurityGroup").items()
    group = {"Fn::GetAtt": [name, "GroupId"]}
    template.resource_count_is(f"AWS::EC2::SecurityGroup{kind}", 1)
    template.has_resource_properties(
        f"AWS::EC2::SecurityGroup{kind}",
        {"GroupId": group, peer: group, "IpProtocol": "tcp", "FromPort": 0, "ToPort": 65535},
    )


def test_members_reach_nothing_else_but_the_ports_that_are_named() -> None:
    template = build(ec2.Port.tcp(443))

    [group] = template.find_resources("AWS::EC2::SecurityGroup").values()
    egress = group["Properties"]["SecurityGroupEgress"]
    assert [(rule["CidrIp"], rule["IpProtocol"]) for rule in egress] == [
        ("127.0.0.1/32", "-1"),
        ("0.0.0.0/0", "tcp"),
    ]


def test_all_traffic_to_anywhere_is_refused() -> None:
    with pytest.raises(ConstructError, match="internet_egress is all traffic"):
        build(ec2.Port.all_traffic())
