"""Security group rules by group id, and what can be deleted when."""

from collections.abc import Callable
from typing import Any

import pytest


def rule(peer: str, **more: Any) -> list[dict[str, Any]]:
    return [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": peer, **more}]}]


def described(ec2: Any, group_id: str) -> dict[str, Any]:
    found: dict[str, Any] = ec2.describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0]
    return found


def test_the_default_group_of_a_new_vpc_has_two_rules(ec2: Any, vpc: str) -> None:
    found = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])
    (default,) = found["SecurityGroups"]

    (ingress,), (egress,) = default["IpPermissions"], default["IpPermissionsEgress"]

    assert ingress["IpProtocol"] == egress["IpProtocol"] == "-1"
    assert [pair["GroupId"] for pair in ingress["UserIdGroupPairs"]] == [default["GroupId"]]
    assert egress["IpRanges"] == [{"CidrIp": "0.0.0.0/0"}]


def test_self_rules_by_group_id_are_in_both_directions(ec2: Any, group: str) -> None:
    found = described(ec2, group)

    peers = [
        [pair["GroupId"] for permission in found[side] for pair in permission["UserIdGroupPairs"]]
        for side in ("IpPermissions", "IpPermissionsEgress")
    ]
    assert peers == [[group], [group]]


@pytest.mark.parametrize("direction", ["ingress", "egress"])
def test_a_rule_that_differs_in_its_description_only_is_a_duplicate(
    ec2: Any, group: str, refusal: Callable[..., Any], direction: str
) -> None:
    authorize = getattr(ec2, f"authorize_security_group_{direction}")

    refused = refusal(authorize, GroupId=group, IpPermissions=rule(group, Description="again"))

    assert refused.code == "InvalidPermission.Duplicate"
    assert refused.message == f'the specified rule "peer: {group}, ALL, ALLOW" already exists'


def test_a_duplicate_of_a_port_rule_names_its_ports(
    ec2: Any, group: str, refusal: Callable[..., Any]
) -> None:
    lustre = {
        "GroupId": group,
        "IpPermissions": [
            {
                "IpProtocol": "tcp",
                "FromPort": 1018,
                "ToPort": 1023,
                "IpRanges": [{"CidrIp": "10.20.0.0/16"}],
            }
        ],
    }
    ec2.authorize_security_group_ingress(**lustre)

    refused = refusal(ec2.authorize_security_group_ingress, **lustre)

    assert "peer: 10.20.0.0/16, TCP, from port: 1018, to port: 1023, ALLOW" in refused.message


def test_a_rule_is_revoked_without_its_description(ec2: Any, group: str, vpc: str) -> None:
    other = ec2.create_security_group(GroupName="o", Description="o", VpcId=vpc)["GroupId"]
    ec2.authorize_security_group_egress(
        GroupId=group, IpPermissions=rule(other, Description="to the other")
    )

    ec2.revoke_security_group_egress(GroupId=group, IpPermissions=rule(other))

    peers = [
        pair["GroupId"]
        for permission in described(ec2, group)["IpPermissionsEgress"]
        for pair in permission["UserIdGroupPairs"]
    ]
    assert peers == [group]


def test_a_peer_of_another_vpc_is_refused(
    ec2: Any, group: str, foreign_group: str, refusal: Callable[..., Any]
) -> None:
    refused = refusal(
        ec2.authorize_security_group_ingress, GroupId=group, IpPermissions=rule(foreign_group)
    )

    assert "belong to different networks" in refused.message


def test_tcp_needs_ports(ec2: Any, group: str, refusal: Callable[..., Any]) -> None:
    refused = refusal(
        ec2.authorize_security_group_ingress,
        GroupId=group,
        IpPermissions=[{"IpProtocol": "tcp", "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}],
    )

    assert "from and to ports" in refused.message


def test_ports_go_upwards(ec2: Any, group: str, refusal: Callable[..., Any]) -> None:
    ranges = [{"CidrIp": "10.0.0.0/8"}]

    refused = refusal(
        ec2.authorize_security_group_ingress,
        GroupId=group,
        IpPermissions=[{"IpProtocol": "tcp", "FromPort": 90, "ToPort": 10, "IpRanges": ranges}],
    )

    assert "Invalid TCP/UDP port range (90:10)" in refused.message


def test_a_group_that_another_group_names_is_not_deleted(
    ec2: Any, group: str, vpc: str, refusal: Callable[..., Any]
) -> None:
    other = ec2.create_security_group(GroupName="o", Description="o", VpcId=vpc)["GroupId"]
    ec2.authorize_security_group_ingress(GroupId=other, IpPermissions=rule(group))

    refused = refusal(ec2.delete_security_group, GroupId=group)
    ec2.revoke_security_group_ingress(GroupId=other, IpPermissions=rule(group))
    ec2.delete_security_group(GroupId=group)

    assert refused.code == "DependencyViolation"
    assert refused.message == f"resource {group} has a dependent object"


def test_a_group_on_an_interface_is_not_deleted(
    ec2: Any, group: str, subnet: str, refusal: Callable[..., Any]
) -> None:
    interface = ec2.create_network_interface(SubnetId=subnet, Groups=[group])["NetworkInterface"]

    refused = refusal(ec2.delete_security_group, GroupId=group)
    ec2.delete_network_interface(NetworkInterfaceId=interface["NetworkInterfaceId"])
    ec2.delete_security_group(GroupId=group)

    assert refused.code == "DependencyViolation"


def test_the_default_group_is_not_deleted(ec2: Any, vpc: str, refusal: Callable[..., Any]) -> None:
    default = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])[
        "SecurityGroups"
    ][0]["GroupId"]

    refused = refusal(ec2.delete_security_group, GroupId=default)

    assert refused.code == "CannotDelete"


def https(description: str = "") -> dict[str, Any]:
    entry = {"CidrIp": "0.0.0.0/0", "Description": description}
    return {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [entry]}


def tagged(**tags: str) -> list[dict[str, Any]]:
    entries = [{"Key": key, "Value": value} for key, value in tags.items()]
    return [{"ResourceType": "security-group-rule", "Tags": entries}]


def rules_of(ec2: Any, group: str) -> dict[str, dict[str, Any]]:
    found = ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])
    return {each["SecurityGroupRuleId"]: each for each in found["SecurityGroupRules"]}


def test_rules_are_tagged_as_they_are_made_and_later(ec2: Any, group: str) -> None:
    [made] = ec2.authorize_security_group_egress(
        GroupId=group, IpPermissions=[https()], TagSpecifications=tagged(one="1")
    )["SecurityGroupRules"]
    rule_id = made["SecurityGroupRuleId"]

    ec2.create_tags(Resources=[rule_id], Tags=[{"Key": "two", "Value": ""}])
    both = rules_of(ec2, group)[rule_id]["Tags"]
    ec2.delete_tags(Resources=[rule_id], Tags=[{"Key": "one"}])
    left = rules_of(ec2, group)[rule_id]["Tags"]

    assert made["Tags"] == [{"Key": "one", "Value": "1"}]
    assert both == [{"Key": "one", "Value": "1"}, {"Key": "two", "Value": ""}]
    assert left == [{"Key": "two", "Value": ""}]


def test_the_answer_lists_every_rule_that_was_made(ec2: Any, group: str, vpc: str) -> None:
    other = ec2.create_security_group(GroupName="o", Description="o", VpcId=vpc)["GroupId"]

    made = ec2.authorize_security_group_egress(
        GroupId=group, IpPermissions=[https("web"), *rule(other, Description="peer")]
    )["SecurityGroupRules"]

    assert [each["IpProtocol"] for each in made] == ["tcp", "-1"]
    assert [each["Description"] for each in made] == ["web", "peer"]
    assert {each["SecurityGroupRuleId"] for each in made} <= rules_of(ec2, group).keys()


def test_tags_go_with_the_rule(ec2: Any, group: str) -> None:
    [made] = ec2.authorize_security_group_egress(
        GroupId=group, IpPermissions=[https()], TagSpecifications=tagged(one="1")
    )["SecurityGroupRules"]
    ids = [made["SecurityGroupRuleId"]]

    ec2.revoke_security_group_egress(GroupId=group, SecurityGroupRuleIds=ids)

    assert ids[0] not in rules_of(ec2, group)
    of_rule = [{"Name": "resource-id", "Values": ids}]
    assert ec2.describe_tags(Filters=of_rule)["Tags"] == []


def test_what_is_no_rule_is_neither_tagged_nor_revoked(
    ec2: Any, group: str, refusal: Callable[..., Any]
) -> None:
    ids = ["sgr-0123456789abcdef0"]

    of_tags = refusal(ec2.create_tags, Resources=ids, Tags=[{"Key": "one", "Value": "1"}])
    of_revoke = refusal(ec2.revoke_security_group_egress, GroupId=group, SecurityGroupRuleIds=ids)

    assert of_tags.code == of_revoke.code == "InvalidSecurityGroupRuleId.NotFound"


def test_tags_are_for_rules_and_not_for_their_group(
    ec2: Any, group: str, refusal: Callable[..., Any]
) -> None:
    tags = [{"ResourceType": "security-group", "Tags": [{"Key": "one", "Value": "1"}]}]

    refused = refusal(
        ec2.authorize_security_group_egress,
        GroupId=group,
        IpPermissions=[https()],
        TagSpecifications=tags,
    )

    assert refused.code == "InvalidParameterValue"
    assert "'security-group' is not a valid taggable resource type" in refused.message


def test_a_page_of_rules_has_its_limits(ec2: Any, refusal: Callable[..., Any]) -> None:
    refused = refusal(ec2.describe_security_group_rules, MaxResults=1001)

    assert refused.message.endswith("less than or equal to 1000")
