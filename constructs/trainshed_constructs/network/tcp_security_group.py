"""Network access between peers without EFA."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from trainshed_constructs.network.peer_group import peer_group


class TcpSecurityGroup(Construct):
    """Security group whose members reach each other over TCP, and nobody else reaches them.

    For nodes whose instance type has no EFA: NCCL and MPI then choose ports as they like (NCCL
    user guide, "Environment Variables", NCCL_SOCKET_IFNAME), so all TCP ports are open between
    members, and no other protocol.

    Attributes:
        security_group: the group; put it on every interface.

    Example::

        from aws_cdk import App, Stack
        from aws_cdk import aws_ec2 as ec2
        from trainshed_constructs import TcpSecurityGroup

        stack = Stack(App(), "Compute")
        peers = TcpSecurityGroup(
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
            what="TCP",
            traffic=ec2.Port.all_tcp(),
            internet_egress=internet_egress,
        )
