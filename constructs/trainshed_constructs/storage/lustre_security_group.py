"""Network access between a Lustre file system and its clients."""

from collections.abc import Mapping
from typing import Required, TypedDict

from aws_cdk import CfnResource, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed.catalogue.lustre import PEER_PORTS, SERVER_PORT


class _Ports(TypedDict, total=False):
    ip_protocol: Required[str]
    from_port: int
    to_port: int


_LUSTRE: Mapping[str, _Ports] = {
    "Lnet": {"ip_protocol": "tcp", "from_port": SERVER_PORT, "to_port": SERVER_PORT},
    "Peers": {"ip_protocol": "tcp", "from_port": PEER_PORTS[0], "to_port": PEER_PORTS[-1]},
}
_EVERYTHING: Mapping[str, _Ports] = {"All": {"ip_protocol": "-1"}}
_DESCRIPTION = "Lustre"


class LustreSecurityGroup(Construct):
    """Security group of an FSx for Lustre file system, open to one group of clients.

    TCP 988 and 1018 to 1023 between the file system, its clients and itself, in both directions;
    with EFA all traffic. By group id, never by address: EFA takes no CIDR rules. The rules on the
    clients' group are here, too, so that group may belong to another stack that knows nothing of
    storage.

    The group and its rules for itself stay when the stack is deleted, like the file system, which
    needs them. The rules for clients go: else the clients' group could not be deleted.

    FSx looks at the group when it creates a file system, and refuses one that does not let its own
    members in ("do not permit Lustre LNET network traffic on port 988", "Insufficient security
    group permissions to create an EFA-enabled file system"). So the file system must wait for
    `own_rules`: `file_system.node.add_dependency(*access.own_rules)`.

    An existing file system has its group already; then only the rules for clients are made.

    Attributes:
        security_group: the group.
        own_rules: the rules between a new file system's own interfaces.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import LustreSecurityGroup

        stack = Stack(App(), "Storage")
        vpc = ec2.Vpc(stack, "Vpc")
        LustreSecurityGroup(
            stack, "Access", vpc=vpc, clients=ec2.SecurityGroup(stack, "Nodes", vpc=vpc), efa=False
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        clients: ec2.ISecurityGroup,
        efa: bool,
        existing_group_id: str | None = None,
    ) -> None:
        """Declare the group and its rules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: where the file system is.
            clients: group of the nodes, in the same VPC.
            efa: clients use EFA.
            existing_group_id: group of an existing file system; by default a new one.
        """
        super().__init__(scope, construct_id)
        ports = _EVERYTHING if efa else _LUSTRE
        self.security_group: ec2.ISecurityGroup
        self.own_rules: tuple[CfnResource, ...] = ()
        if existing_group_id:
            self.security_group = ec2.SecurityGroup.from_security_group_id(
                self, "Group", existing_group_id, mutable=False
            )
        else:
            self.security_group, self.own_rules = self._new_group(vpc, ports)
        servers, nodes = self.security_group.security_group_id, clients.security_group_id
        self._open("ServersClients", servers, nodes, ports)
        self._open("ClientsServers", nodes, servers, ports)

    def _new_group(
        self, vpc: ec2.IVpc, ports: Mapping[str, _Ports]
    ) -> tuple[ec2.SecurityGroup, tuple[CfnResource, ...]]:
        group = ec2.SecurityGroup(
            self,
            "Group",
            vpc=vpc,
            description="FSx for Lustre file system",
            allow_all_outbound=False,
        )
        servers = group.security_group_id
        rules = self._open("Servers", servers, servers, ports)
        group.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        for rule in rules:
            rule.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        return group, tuple(rules)

    def _open(
        self, name: str, group: str, peer: str, ports: Mapping[str, _Ports]
    ) -> list[CfnResource]:
        """Let a group take from, and send to, a peer."""
        # L1, because L2 puts a rule into the stack of the group that it belongs to.
        rules: list[CfnResource] = []
        for ports_name, port in ports.items():
            rules += [
                ec2.CfnSecurityGroupIngress(
                    self,
                    f"{name}From{ports_name}",
                    group_id=group,
                    source_security_group_id=peer,
                    description=_DESCRIPTION,
                    **port,
                ),
                ec2.CfnSecurityGroupEgress(
                    self,
                    f"{name}To{ports_name}",
                    group_id=group,
                    destination_security_group_id=peer,
                    description=_DESCRIPTION,
                    **port,
                ),
            ]
        return rules
