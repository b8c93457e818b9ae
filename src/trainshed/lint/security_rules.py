"""The rules of a template's security groups, wherever the template has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from trainshed.lint.model import Given, Unknown
from trainshed.lint.ports import tcp_ports
from trainshed.lint.read import value_of
from trainshed.lint.symbol import logical_id
from trainshed.lint.template import Template, TemplateResource, TemplateValue

SECURITY_GROUP = "AWS::EC2::SecurityGroup"


class Direction(StrEnum):
    """Which way traffic goes; the names of the properties and resources that have the rules."""

    INGRESS = "SecurityGroupIngress"
    EGRESS = "SecurityGroupEgress"

    @property
    def peer(self) -> str:
        """The property that names the group at the other end."""
        return (
            "SourceSecurityGroupId" if self is Direction.INGRESS else "DestinationSecurityGroupId"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityRule:
    """A rule of a security group.

    Attributes:
        protocol: `-1` for all, `tcp` and so on.
        peer_group: the group that it names; None for another kind of peer.
        cidr: the range of addresses that it names, or None.
        ports: from the first to the last.
    """

    protocol: Given[str]
    peer_group: Given[str]
    cidr: Given[str]
    ports: tuple[Given[int], Given[int]]

    @property
    def all_traffic(self) -> bool:
        """Whether it is for all protocols."""
        return value_of(self.protocol) == "-1"

    @property
    def unknown(self) -> Unknown | None:
        """What the template does not decide of it."""
        parts = (self.protocol, self.peer_group, *self.ports)
        return next((given for given in parts if isinstance(given, Unknown)), None)

    def tcp_ports(self) -> range:
        """Return the TCP ports that it is for."""
        return tcp_ports(value_of(self.protocol), *map(value_of, self.ports))


def security_group(template: Template, reference: str) -> TemplateResource | None:
    """Return the security group that a text refers to, if it is in the template."""
    resource = template.resources.get(logical_id(reference) or "")
    return resource if resource and resource.type == SECURITY_GROUP else None


def rules_of(
    template: Template, group: TemplateResource, direction: Direction
) -> Iterator[SecurityRule | Unknown]:
    """Yield the rules of a group: its own, and those that are resources of their own."""
    inline = group.get(direction).entries()
    if isinstance(inline, Unknown):
        yield inline
    elif inline:
        yield from (_rule(entry, direction) for entry in inline.value)
    for resource in template.of_type(f"AWS::EC2::{direction}"):
        owner = resource.get("GroupId").reference()
        if isinstance(owner, Unknown):
            yield owner
        elif owner and logical_id(owner.value) == group.logical_id:
            yield _rule(resource.properties, direction)


def open_by_default(template: Template, group: TemplateResource) -> bool:
    """Whether the group has no rules of its own for what leaves: then all of it may."""
    return not group.get(Direction.EGRESS)


def _rule(node: TemplateValue, direction: Direction) -> SecurityRule:
    return SecurityRule(
        protocol=node.get("IpProtocol").text(),
        peer_group=node.get(direction.peer).reference(),
        cidr=node.get("CidrIp").reference() or node.get("CidrIpv6").reference(),
        ports=(node.get("FromPort").whole(), node.get("ToPort").whole()),
    )
