"""Network access between EFA peers."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed_constructs.network.peer_group import peer_group


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
        self.security_group = peer_group(
            self,
            vpc=vpc,
            what="EFA",
            traffic=ec2.Port.all_traffic(),
            internet_egress=internet_egress,
        )
