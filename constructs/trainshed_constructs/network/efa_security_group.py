"""Network access between EFA peers."""

from aws_cdk import aws_ec2 as ec2

from trainshed_constructs.network.peer_group import PeerSecurityGroup


class EfaSecurityGroup(PeerSecurityGroup):
    """Security group whose members reach each other over EFA, and nobody else reaches them.

    EFA traffic is neither TCP nor UDP: only a rule for all protocols between the group and itself,
    by group id and in both directions, lets it through (EC2 user guide, "Get started with EFA and
    MPI", prepare an EFA-enabled security group). A rule for 0.0.0.0/0 does not.

    It takes what a `PeerSecurityGroup` takes.

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

    _what = "EFA"
    _traffic = ec2.Port.all_traffic
