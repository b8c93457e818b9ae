"""A security group whose members reach each other, and nobody else reaches them."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed_constructs.errors import ConstructError


class PeerSecurityGroup(Construct):
    """Security group whose members reach each other, and nobody else reaches them.

    Attributes:
        security_group: the group; put it on every interface.
    """

    _what: ClassVar[str]
    _traffic: ClassVar[Callable[[], ec2.Port]]

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        internet_egress: Sequence[ec2.Port] = (),
    ) -> None:
        """Declare the group and its rules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            vpc: where the group is.
            internet_egress: ports that members reach on any IPv4 address; none by default.

        Raises:
            ConstructError: a port is given twice, or is all traffic.
        """
        super().__init__(scope, construct_id)
        everything, traffic = ec2.Port.all_traffic(), type(self)._traffic()
        _check(self, internet_egress, everything)
        # With allow_all_outbound, the default, CDK drops the egress rule to the group itself as
        # redundant, with no more than a warning, and EFA does not work.
        group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description=f"{self._what} peers", allow_all_outbound=False
        )
        group.add_ingress_rule(group, traffic, f"{self._what} from peers")
        group.add_egress_rule(group, traffic, f"{self._what} to peers")
        # EC2 opens all egress of a group that is created with none, and the rule to the group
        # itself, a resource of its own, comes too late: the rule to localhost is AWS's way to say
        # "none" (CloudFormation, AWS::EC2::SecurityGroup, "Remove the default rule").
        group.add_egress_rule(
            ec2.Peer.ipv4("127.0.0.1/32"), everything, "nothing but the rules beside this one"
        )
        for port in internet_egress:
            group.add_egress_rule(ec2.Peer.any_ipv4(), port, "internet")
        self.security_group = group


def _check(scope: Construct, internet_egress: Sequence[ec2.Port], everything: ec2.Port) -> None:
    names = [port.to_string() for port in internet_egress]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConstructError(
            scope,
            f"internet_egress has port {', '.join(twice)} twice, and EC2 refuses a duplicate "
            "rule; give each port once",
        )
    if everything.to_string() in names:
        raise ConstructError(
            scope,
            "internet_egress is all traffic; name the ports that members need, for instance "
            "Port.tcp(443)",
        )
