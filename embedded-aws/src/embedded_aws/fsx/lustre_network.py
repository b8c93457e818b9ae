"""What FSx refuses about the network of a Lustre file system.

Documented: one subnet; the security groups are of its VPC; they allow Lustre on TCP 988 ("The file
system cannot be created because the default security group in the subnet provided or the provided
security groups do not permit Lustre LNET network traffic on port 988"); for EFA they allow all
traffic to and from themselves, named by group id ("Insufficient security group permissions to
create an EFA-enabled file system"). Inferred: that FSx looks for 988 in both directions, between
the file servers themselves, that is from and to one of the groups or a range that holds the subnet.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network
from typing import Any

from embedded_aws.actions import Call, Refusal
from embedded_aws.ec2.subnets import subnet_of

_LNET_PORT = 988


def check_network(
    call: Call, subnet_ids: Sequence[str], group_ids: Sequence[str], *, efa: bool
) -> tuple[Any, list[Any]]:
    """Return moto's subnet and security groups of a new Lustre file system.

    Args:
        call: CreateFileSystem.
        subnet_ids: as given.
        group_ids: as given; none means the VPC's default group.
        efa: the file system is to be EFA-enabled.

    Raises:
        Refusal: InvalidNetworkSettings.
    """
    if len(subnet_ids) != 1:
        raise _refuse("Exactly one subnet ID must be provided for Lustre file systems.")
    try:
        subnet = subnet_of(call, subnet_ids[0])
    except Refusal as refusal:
        raise _refuse(refusal.message) from refusal
    ec2 = call.backend("ec2")
    groups = [ec2.get_security_group_from_id(group_id) for group_id in group_ids]
    for group_id, group in zip(group_ids, groups, strict=True):
        if group is None:
            raise _refuse(f"The security group ID '{group_id}' does not exist.")
        if group.vpc_id != subnet.vpc_id:
            raise _refuse(
                f"Security group {group_id} and subnet {subnet.id} belong to different VPCs."
            )
    groups = groups or [ec2.get_default_security_group(subnet.vpc_id)]
    directions = [
        [rule for group in groups for rule in group.ingress_rules],
        [rule for group in groups for rule in group.egress_rules],
    ]
    ids = {group.id for group in groups}
    if not all(_permits_lnet(rules, ids, subnet.cidr_block) for rules in directions):
        raise _refuse(
            "The file system cannot be created because the default security group in the subnet "
            "provided or the provided security groups do not permit Lustre LNET network traffic "
            f"on port {_LNET_PORT}"
        )
    if efa and not all(_permits_efa(rules, ids) for rules in directions):
        raise _refuse(
            "Insufficient security group permissions to create an EFA-enabled file system: a "
            "security group must allow all traffic from and to itself, by its own id."
        )
    return subnet, groups


def _refuse(message: str) -> Refusal:
    return Refusal("InvalidNetworkSettings", message)


def _permits_lnet(rules: Iterable[Any], group_ids: set[str], cidr: str) -> bool:
    return any(
        _covers_port(rule)
        and (
            rule.source_group.get("GroupId") in group_ids
            or (rule.cidr_ipv4 and IPv4Network(cidr).subnet_of(IPv4Network(rule.cidr_ipv4)))
        )
        for rule in rules
    )


def _covers_port(rule: Any) -> bool:
    if rule.ip_protocol == "-1":
        return True
    return bool(rule.ip_protocol == "tcp" and rule.from_port <= _LNET_PORT <= rule.to_port)


def _permits_efa(rules: Iterable[Any], group_ids: set[str]) -> bool:
    return any(
        rule.ip_protocol == "-1"
        and rule.source_group.get("GroupId") == rule.group_id
        and rule.group_id in group_ids
        for rule in rules
    )
