"""Network access between peers without EFA."""

from aws_cdk import aws_ec2 as ec2

from trainshed_constructs.network.peer_group import PeerSecurityGroup


class TcpSecurityGroup(PeerSecurityGroup):
    """Security group whose members reach each other over TCP, and nobody else reaches them.

    For nodes whose instance type has no EFA: NCCL and MPI then choose ports as they like (NCCL
    user guide, "Environment Variables", NCCL_SOCKET_IFNAME), so all TCP ports are open between
    members, and no other protocol.

    It takes what a `PeerSecurityGroup` takes.

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

    _what = "TCP"
    _traffic = ec2.Port.all_tcp
