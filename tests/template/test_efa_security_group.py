"""EfaSecurityGroup in a template."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

from trainshed_constructs import ConstructError, EfaSecurityGroup


def build(scope: cdk.Stack, ports: Sequence[ec2.Port] = ()) -> EfaSecurityGroup:
    vpc = ec2.Vpc.from_vpc_attributes(
        scope, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=["us-west-2a"]
    )
    return EfaSecurityGroup(scope, "Peers", vpc=vpc, internet_egress=ports)


def template_of(*ports: ec2.Port) -> Template:
    stack = cdk.Stack(cdk.App(), "Stack")
    build(stack, ports)
    return Template.from_stack(stack)


@pytest.fixture(scope="module")
def closed() -> Template:
    return template_of()


@pytest.fixture(scope="module")
def https() -> Template:
    return template_of(ec2.Port.tcp(443), ec2.Port.udp(443))


def group(template: Template) -> tuple[dict[str, Any], dict[str, Any]]:
    """The group's properties, and how the template refers to its id."""
    [(name, found)] = template.find_resources("AWS::EC2::SecurityGroup").items()
    return found["Properties"], {"Fn::GetAtt": [name, "GroupId"]}


@pytest.mark.parametrize(
    ("kind", "peer"),
    [("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")],
)
@pytest.mark.parametrize("which", ["closed", "https"])
def test_all_traffic_flows_between_members_by_group_id(
    request: pytest.FixtureRequest, which: str, kind: str, peer: str
) -> None:
    template: Template = request.getfixturevalue(which)
    _, group_id = group(template)

    template.resource_count_is(f"AWS::EC2::SecurityGroup{kind}", 1)
    template.has_resource_properties(
        f"AWS::EC2::SecurityGroup{kind}",
        {"GroupId": group_id, peer: group_id, "IpProtocol": "-1", "FromPort": Match.absent()},
    )


def test_nobody_outside_reaches_a_member(https: Template) -> None:
    properties, _ = group(https)

    assert "SecurityGroupIngress" not in properties


def test_without_internet_egress_ec2_does_not_open_all_of_it(closed: Template) -> None:
    properties, _ = group(closed)

    assert [rule["CidrIp"] for rule in properties["SecurityGroupEgress"]] == ["127.0.0.1/32"]


def test_the_internet_is_reached_on_the_given_ports_only(https: Template) -> None:
    properties, _ = group(https)

    assert [
        (rule["IpProtocol"], rule["FromPort"], rule["ToPort"])
        for rule in properties["SecurityGroupEgress"]
        if rule["CidrIp"] == "0.0.0.0/0"
    ] == [("tcp", 443, 443), ("udp", 443, 443)]


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        pytest.param(
            [ec2.Port.tcp(443), ec2.Port.HTTPS], "Stack/Peers: .* port 443 twice", id="twice"
        ),
        pytest.param([ec2.Port.all_traffic()], "all traffic; name the ports", id="all"),
    ],
)
def test_contradictions_are_refused(ports: list[ec2.Port], message: str) -> None:
    with pytest.raises(ConstructError, match=message):
        build(cdk.Stack(cdk.App(), "Stack"), ports)
