"""Security groups and their rules."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, differences, forgiving, present
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.ec2.resource_types.handler import Ec2Handler

# The egress rule of every new group of a VPC, unless the template has egress rules.
_OPEN_EGRESS = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}

# A template's names of a rule's peer, and the API's.
_PEERS = {
    "CidrIp": ("IpRanges", "CidrIp"),
    "CidrIpv6": ("Ipv6Ranges", "CidrIpv6"),
    "SourcePrefixListId": ("PrefixListIds", "PrefixListId"),
    "DestinationPrefixListId": ("PrefixListIds", "PrefixListId"),
    "SourceSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
    "SourceSecurityGroupName": ("UserIdGroupPairs", "GroupName"),
    "DestinationSecurityGroupId": ("UserIdGroupPairs", "GroupId"),
}


def _ip_permission(ec2: Any, rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return one rule of a template as the IpPermission that EC2 takes."""
    # EC2 knows all protocols as -1, whether the template writes a number or a text.
    permission: dict[str, Any] = {"IpProtocol": str(rule["IpProtocol"])}
    permission |= {port: rule[port] for port in ("FromPort", "ToPort") if port in rule}
    for name, (group, key) in _PEERS.items():
        if name in rule:
            peer = {key: rule[name]}
            if "Description" in rule:
                peer["Description"] = rule["Description"]
            if group == "UserIdGroupPairs" and "SourceSecurityGroupOwnerId" in rule:
                peer["UserId"] = rule["SourceSecurityGroupOwnerId"]
            permission[group] = [peer]
    converted: dict[str, Any] = arguments(
        ec2, "AuthorizeSecurityGroupIngress", {"IpPermissions": [permission]}
    )["IpPermissions"][0]
    return converted


@resource("AWS::EC2::SecurityGroup")
class SecurityGroup(Ec2Handler):
    """A security group with its inline rules; its Ref is the group's id."""

    kind = "security-group"
    target, name = "GroupId", "GroupName"
    creation = "CreateSecurityGroup", "GroupId"
    reading = "DescribeSecurityGroups", "SecurityGroups"
    deletion = "DeleteSecurityGroup"
    later = ("GroupDescription", "SecurityGroupEgress", "SecurityGroupIngress")

    def _wanted(self, request: Request) -> dict[str, Any]:
        description = request.properties["GroupDescription"]
        return {**super()._wanted(request), "Description": description}

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        ec2 = request.client("ec2")
        for direction, default in (("Ingress", []), ("Egress", [_OPEN_EGRESS])):
            name = f"SecurityGroup{direction}"
            old, new = (each.get(name) or default for each in (before, request.properties))
            _replace_rules(ec2, physical_id, direction.lower(), old, new)


def _replace_rules(ec2: Any, group_id: str, direction: str, old: list[Any], new: list[Any]) -> None:
    """Revoke the rules that were removed and authorize those that were added."""
    gone, added = differences(old, new)
    revoke = getattr(ec2, f"revoke_security_group_{direction}")
    for rule in gone:
        with forgiving():
            revoke(GroupId=group_id, IpPermissions=[_ip_permission(ec2, rule)])
    authorize = getattr(ec2, f"authorize_security_group_{direction}")
    for rule in added:
        authorize(GroupId=group_id, IpPermissions=[_ip_permission(ec2, rule)])


@resource("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
class SecurityGroupRule(Handler):
    """One rule of a group; its Ref is the rule's id, `sgr-...`."""

    service = "ec2"
    target = "SecurityGroupRuleId"
    reading = "DescribeSecurityGroupRules", "SecurityGroupRules"

    def _create(self, request: Request) -> str:
        ec2 = request.client("ec2")
        group = present(request.properties, "GroupId", "GroupName")
        authorize = getattr(ec2, f"authorize_security_group_{_direction(request)}")
        reply = authorize(**group, IpPermissions=[_ip_permission(ec2, request.properties)])
        return str(reply["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        # Only the description can change; everything else replaces the rule.
        ec2 = request.client("ec2")
        describe = getattr(ec2, f"update_security_group_rule_descriptions_{_direction(request)}")
        describe(
            GroupId=self._described(request, physical_id)["GroupId"],
            IpPermissions=[_ip_permission(ec2, request.properties)],
        )

    def _delete(self, request: Request, physical_id: str) -> None:
        revoke = getattr(request.client("ec2"), f"revoke_security_group_{_direction(request)}")
        revoke(
            GroupId=self._described(request, physical_id)["GroupId"],
            SecurityGroupRuleIds=[physical_id],
        )


def _direction(request: Request) -> str:
    return "ingress" if request.resource_type.endswith("Ingress") else "egress"
