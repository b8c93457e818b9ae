"""Security groups and their rules through their handlers."""

from typing import Any

import pytest

OPEN = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


def rules(client: Any, group: Any, direction: str) -> list[dict[str, Any]]:
    """The rules of one direction, one by one, in the words of a template."""
    described = client("ec2").describe_security_groups(GroupIds=[group.ref])["SecurityGroups"][0]
    permissions = "IpPermissions" if direction == "ingress" else "IpPermissionsEgress"
    return [
        {
            **{name: rule[name] for name in ("IpProtocol", "FromPort", "ToPort") if name in rule},
            **{name: text for name, text in peer.items() if name != "UserId"},
        }
        for rule in described[permissions]
        for peer in rule["IpRanges"] + rule["UserIdGroupPairs"]
    ]


def test_a_group_without_egress_rules_is_open_outwards(client: Any, group: Any) -> None:
    assert rules(client, group, "egress") == [OPEN]
    assert rules(client, group, "ingress") == []


def test_inline_egress_takes_the_place_of_the_open_rule(client: Any, deploy: Any, vpc: Any) -> None:
    group = deploy(
        "AWS::EC2::SecurityGroup",
        GroupDescription="peers",
        VpcId=vpc.ref,
        SecurityGroupEgress=[
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/8"}
        ],
    )
    made = rules(client, group, "egress")

    group.update("SecurityGroupEgress")

    assert made == [{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/8"}]
    assert rules(client, group, "egress") == [OPEN]


def test_an_update_revokes_and_authorizes_only_what_changed(
    client: Any, deploy: Any, vpc: Any
) -> None:
    def ssh(cidr: str) -> dict[str, Any]:
        return {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": cidr}

    group = deploy(
        "AWS::EC2::SecurityGroup",
        GroupDescription="peers",
        VpcId=vpc.ref,
        SecurityGroupIngress=[ssh("10.1.0.0/16"), ssh("10.2.0.0/16")],
    )

    group.update(SecurityGroupIngress=[ssh("10.2.0.0/16"), ssh("10.3.0.0/16")])

    cidrs = sorted(rule["CidrIp"] for rule in rules(client, group, "ingress"))
    assert cidrs == ["10.2.0.0/16", "10.3.0.0/16"]


def test_a_deleted_group_is_gone(client: Any, group: Any) -> None:
    group.delete()
    group.delete()

    described = client("ec2").describe_security_groups()["SecurityGroups"]
    assert group.ref not in [each["GroupId"] for each in described]


@pytest.mark.parametrize(
    ("resource_type", "peer", "direction"),
    [
        ("AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId", "ingress"),
        ("AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId", "egress"),
    ],
)
def test_a_rule_from_the_group_to_itself_exists_until_deleted(
    client: Any, deploy: Any, group: Any, resource_type: str, peer: str, direction: str
) -> None:
    expected = {"IpProtocol": "-1", "GroupId": group.ref, "Description": "EFA"}

    rule = deploy(
        resource_type, GroupId=group.ref, IpProtocol="-1", Description="EFA", **{peer: group.ref}
    )

    assert rule.ref.startswith("sgr-")
    assert expected in rules(client, group, direction)
    rule.update(Description="peers")
    assert {**expected, "Description": "peers"} in rules(client, group, direction)
    rule.delete()
    rule.delete()
    assert rules(client, group, direction) == ([OPEN] if direction == "egress" else [])
