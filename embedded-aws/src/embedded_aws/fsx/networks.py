"""The network of a file system: its subnet, its security groups, and whether these open a port."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from embedded_aws.actions import Call, Refusal
from embedded_aws.ec2.security_group_rules import covers
from embedded_aws.ec2.subnets import subnet_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Where a file system is.

    Attributes:
        subnet: moto's.
        groups: moto's security groups.
    """

    subnet: Any
    groups: Sequence[Any]

    @property
    def group_ids(self) -> set[str]:
        """The ids of the security groups."""
        return {group.id for group in self.groups}

    @property
    def ingress(self) -> list[Any]:
        """The rules of all groups for what comes in."""
        return [rule for group in self.groups for rule in group.ingress_rules]

    @property
    def egress(self) -> list[Any]:
        """The rules of all groups for what goes out."""
        return [rule for group in self.groups for rule in group.egress_rules]

    def permits(self, rules: Iterable[Any], port: int) -> bool:
        """Whether rules let the file servers reach each other over a TCP port.

        They do by one of the groups, or by a range that holds the subnet.
        """
        return any(
            covers(rule, port)
            and (
                rule.source_group.get("GroupId") in self.group_ids
                or (
                    rule.cidr_ipv4
                    and IPv4Network(self.subnet.cidr_block).subnet_of(IPv4Network(rule.cidr_ipv4))
                )
            )
            for rule in rules
        )


def network_of(call: Call, kind: str) -> Network:
    """Return the network of a new file system; without groups it has the VPC's default group.

    Args:
        call: CreateFileSystem.
        kind: what the file system is called in a refusal, for instance `Lustre`.

    Raises:
        Refusal: InvalidNetworkSettings.
    """
    subnet_ids, group_ids = call.params["SubnetIds"], call.params.get("SecurityGroupIds", [])
    if len(subnet_ids) != 1:
        raise invalid_network(f"Exactly one subnet ID must be provided for {kind} file systems.")
    try:
        subnet = subnet_of(call, subnet_ids[0])
    except Refusal as refusal:
        raise invalid_network(refusal.message) from refusal
    ec2 = call.backend("ec2")
    groups = [ec2.get_security_group_from_id(group_id) for group_id in group_ids]
    for group_id, group in zip(group_ids, groups, strict=True):
        if group is None:
            raise invalid_network(f"The security group ID '{group_id}' does not exist.")
        if group.vpc_id != subnet.vpc_id:
            raise invalid_network(
                f"Security group {group_id} and subnet {subnet.id} belong to different VPCs."
            )
    return Network(subnet=subnet, groups=groups or [ec2.get_default_security_group(subnet.vpc_id)])


def invalid_network(message: str) -> Refusal:
    """Return the refusal of a network."""
    return Refusal("InvalidNetworkSettings", message)
