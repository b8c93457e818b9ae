"""What EC2 refuses about security groups, and what moto gets wrong about them.

EC2 API reference and VPC user guide: a rule's identity is its protocol, ports and peer, not its
description; a group that another group's rule names or that an interface uses cannot be deleted
(DependencyViolation), nor can a VPC's default group (CannotDelete); a new VPC's default group lets
its members in and everything out; a rule's peer group is in the same VPC (or a peered one, which
the embedded AWS does not have).
"""

from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.security_groups import SecurityGroup, SecurityGroupRule

from embedded_aws.actions import Call, Refusal, action, correction, existing
from embedded_aws.ec2.interfaces_in_use import interfaces
from embedded_aws.ec2.refusals import invalid_value
from embedded_aws.ec2.security_group_rules import all_rules
from embedded_aws.ec2.tags import check_tags

_PROTOCOLS = {"1": "icmp", "6": "tcp", "17": "udp", "all": "-1"}


@correction
def give_rules_an_identity() -> None:
    """Give rules AWS's identity, and default groups AWS's ingress rule."""
    # mypy refuses replacing methods; moto offers no other way.
    SecurityGroupRule.__eq__ = _same_rule  # type: ignore[method-assign]
    EC2Backend.create_security_group = _with_default_rules(  # type: ignore[method-assign]
        EC2Backend.create_security_group
    )


def _identity(rule: SecurityGroupRule) -> tuple[Any, ...]:
    ports = () if rule.ip_protocol == "-1" else (rule.from_port, rule.to_port)
    peer = (
        rule.cidr_ipv4 or rule.cidr_ipv6 or rule.prefix_list_id or rule.source_group.get("GroupId")
    )
    return rule.ip_protocol, ports, peer


def _same_rule(one: SecurityGroupRule, other: SecurityGroupRule) -> bool:
    return _identity(one) == _identity(other)


def _with_default_rules(create: Any) -> Any:
    def create_security_group(backend: Any, *args: Any, **kwargs: Any) -> SecurityGroup:
        group: SecurityGroup = create(backend, *args, **kwargs)
        if group.is_default:
            backend.authorize_security_group_ingress(
                group_name_or_id=group.id,
                ip_protocol="-1",
                from_port=None,
                to_port=None,
                ip_ranges=[],
                source_groups=[{"GroupId": group.id}],
            )
        return group

    return create_security_group


def group_of(call: Call, group_id: str) -> SecurityGroup:
    """Return a security group.

    Raises:
        Refusal: there is none.
    """
    group: SecurityGroup | None = call.backend("ec2").get_security_group_from_id(group_id)
    message = f"The security group '{group_id}' does not exist"
    return existing(group, "InvalidGroup.NotFound", message)


@action("ec2", "AuthorizeSecurityGroupIngress", "AuthorizeSecurityGroupEgress")
def authorize(call: Call) -> Any:
    """Add rules that are new and whose peer groups are in the group's own VPC."""
    check_tags(call, "security-group-rule")
    if "GroupId" not in call.params:
        return call.moto()
    group = group_of(call, call.params["GroupId"])
    for permission in call.params.get("IpPermissions", []):
        for pair in permission.get("UserIdGroupPairs", []):
            if "GroupId" in pair and group_of(call, pair["GroupId"]).vpc_id != group.vpc_id:
                raise Refusal(
                    "InvalidGroup.NotFound",
                    "You have specified two resources that belong to different networks.",
                )
        _check_rule(group, permission, egress=call.operation.endswith("Egress"))
    before = {rule.id for rule in all_rules(group)}
    answer = call.moto()
    # moto answers with the rules of the last permission only.
    answer.result["SecurityGroupRules"] = [
        rule for rule in all_rules(group) if rule.id not in before
    ]
    return answer


def _check_rule(group: SecurityGroup, permission: Any, *, egress: bool) -> None:
    protocol = _PROTOCOLS.get(permission["IpProtocol"].lower(), permission["IpProtocol"])
    ports = permission.get("FromPort"), permission.get("ToPort")
    if protocol in ("tcp", "udp", "icmp") and None in ports:
        raise invalid_value(
            "Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange."
        )
    if protocol in ("tcp", "udp") and int(ports[0]) > int(ports[1]):
        raise invalid_value(f"Invalid TCP/UDP port range ({ports[0]}:{ports[1]})")
    peers = [
        *(entry["CidrIp"] for entry in permission.get("IpRanges", [])),
        *(entry["CidrIpv6"] for entry in permission.get("Ipv6Ranges", [])),
        *(entry["PrefixListId"] for entry in permission.get("PrefixListIds", [])),
        *(pair["GroupId"] for pair in permission.get("UserIdGroupPairs", []) if "GroupId" in pair),
    ]
    existing = {_identity(rule) for rule in (group.egress_rules if egress else group.ingress_rules)}
    for peer in peers:
        identity = (protocol, () if protocol == "-1" else ports, peer)
        if identity in existing:
            words = (
                "ALL"
                if protocol == "-1"
                else f"{protocol.upper()}, from port: {ports[0]}, to port: {ports[1]}"
            )
            raise Refusal(
                "InvalidPermission.Duplicate",
                f'the specified rule "peer: {peer}, {words}, ALLOW" already exists',
            )
        existing.add(identity)


@action("ec2", "DeleteSecurityGroup")
def delete_security_group(call: Call) -> Any:
    """Delete a group that is neither referenced nor in use."""
    ec2 = call.backend("ec2")
    group = ec2.get_security_group_by_name_or_id(
        call.params.get("GroupId") or call.params.get("GroupName")
    )
    if group is None:
        return call.moto()
    if group.is_default:
        raise Refusal(
            "CannotDelete",
            f'the specified group: "{group.id}" name: "{group.name}" cannot be deleted by a user',
        )
    named = any(
        rule.source_group.get("GroupId") == group.id
        for other in ec2.describe_security_groups()
        if other is not group
        for rule in [*other.ingress_rules, *other.egress_rules]
    )
    used = any(group in interface.group_set for interface in interfaces(call))
    if named or used:
        raise Refusal("DependencyViolation", f"resource {group.id} has a dependent object")
    return call.moto()
