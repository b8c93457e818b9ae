"""Network access between EFA peers."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed_constructs.errors import ConstructError


class EfaSecurityGroup(Construct):
    """Security group whose members reach each other over EFA, and nobody else reaches them.

    EFA traffic is neither TCP nor UDP: only a rule for all protocols between the group and itself,
    by group id and in both directions, lets it through (EC2 user guide, "Get started with EFA and
    MPI", prepare an EFA-enabled security group). A rule for 0.0.0.0/0 does not.

    Attributes:
        security_group: the group; put it on every EFA interface.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import EfaSecurityGroup

        stack = Stack(App(), "Compute")
        peers = EfaSecurityGroup(
            stack, "Peers", vpc=ec2.Vpc(stack, "Vpc"), internet_egress=[ec2.Port.tcp(443)]
        )
    """

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
        everything = ec2.Port.all_traffic()
        self._check(internet_egress, everything)
        # With allow_all_outbound, the default, CDK drops the egress rule to the group itself as
        # redundant, with no more than a warning, and EFA does not work.
        self.security_group = ec2.SecurityGroup(
            self, "Group", vpc=vpc, description="EFA peers", allow_all_outbound=False
        )
        self.security_group.add_ingress_rule(self.security_group, everything, "EFA from peers")
        self.security_group.add_egress_rule(self.security_group, everything, "EFA to peers")
        # EC2 opens all egress of a group that is created with none, and the rule to the group
        # itself, a resource of its own, comes too late: the rule to localhost is AWS's way to say
        # "none" (CloudFormation, AWS::EC2::SecurityGroup, "Remove the default rule").
        self.security_group.add_egress_rule(
            ec2.Peer.ipv4("127.0.0.1/32"),
            everything,
            "nothing but the rules beside this one",
        )
        for port in internet_egress:
            self.security_group.add_egress_rule(ec2.Peer.any_ipv4(), port, "internet")

    def _check(self, internet_egress: Sequence[ec2.Port], everything: ec2.Port) -> None:
        names = [port.to_string() for port in internet_egress]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ConstructError(
                self,
                f"internet_egress has port {', '.join(twice)} twice, and EC2 refuses a duplicate "
                "rule; give each port once",
            )
        if everything.to_string() in names:
            raise ConstructError(
                self,
                "internet_egress is all traffic; name the ports that members need, for instance "
                "Port.tcp(443)",
            )
