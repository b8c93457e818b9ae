"""Security groups and their rules."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, present
from embedded_aws.cloudformation.handlers.setting import Setting
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


def _ip_permissions(rule: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one rule of a template as the IpPermissions that EC2 takes."""
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
    return [permission]


def _rules(direction: str, neutral: list[Any]) -> Setting:
    return Setting(
        put=f"AuthorizeSecurityGroup{direction}",
        argument="IpPermissions",
        remove=f"RevokeSecurityGroup{direction}",
        neutral=neutral,
        reshape=_ip_permissions,
        each=True,
    )


@resource("AWS::EC2::SecurityGroup")
class SecurityGroup(Ec2Handler):
    """A security group with its inline rules; its Ref is the group's id."""

    kind = "security-group"
    target, name = "GroupId", "GroupName"
    creation = "CreateSecurityGroup", "GroupId"
    reading = "DescribeSecurityGroups", "SecurityGroups"
    deletion = "DeleteSecurityGroup"
    settings = {
        "SecurityGroupIngress": _rules("Ingress", []),
        "SecurityGroupEgress": _rules("Egress", [_OPEN_EGRESS]),
    }
    later = ("GroupDescription", *settings)

    def _wanted(self, request: Request) -> dict[str, Any]:
        description = request.properties["GroupDescription"]
        return {**super()._wanted(request), "Description": description}


@resource("AWS::EC2::SecurityGroupIngress", "AWS::EC2::SecurityGroupEgress")
class SecurityGroupRule(Handler):
    """One rule of a group; its Ref is the rule's id, `sgr-...`."""

    service = "ec2"
    target = "SecurityGroupRuleId"
    reading = "DescribeSecurityGroupRules", "SecurityGroupRules"

    def _create(self, request: Request) -> str:
        rule = present(request.properties, "GroupId", "GroupName")
        rule["IpPermissions"] = _ip_permissions(request.properties)
        reply = self._call(request, f"AuthorizeSecurityGroup{_direction(request)}", rule)
        return str(reply["SecurityGroupRules"][0]["SecurityGroupRuleId"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        # Only the description can change; everything else replaces the rule.
        rule = {"IpPermissions": _ip_permissions(request.properties)}
        operation = f"UpdateSecurityGroupRuleDescriptions{_direction(request)}"
        self._call(request, operation, rule, GroupId=self._group(request, physical_id))

    def _delete(self, request: Request, physical_id: str) -> None:
        rule = {"SecurityGroupRuleIds": [physical_id]}
        operation = f"RevokeSecurityGroup{_direction(request)}"
        self._call(request, operation, rule, GroupId=self._group(request, physical_id))

    def _group(self, request: Request, physical_id: str) -> Any:
        return self._described(request, physical_id)["GroupId"]


def _direction(request: Request) -> str:
    return request.resource_type.removeprefix("AWS::EC2::SecurityGroup")
