"""What must exist before a cluster's resources that cost money are made."""

import aws_cdk as cdk
from constructs import Construct

from trainshed.plan import AmiPlan, ClusterPlan
from trainshed_constructs import PinnedAmi
from trainshed_stacks.owned_stack import OwnedStack


def pinned_ami(stack: cdk.Stack, ami: AmiPlan) -> PinnedAmi:
    """Find the AMI of the nodes, and fail when it is not there or will not do."""
    return PinnedAmi(
        stack,
        "Ami",
        ami=ami.asked,
        version=ami.version,
        cell=ami.cell,
        root_device=ami.root_device,
        remedy=ami.remedy,
    )


class PrerequisitesStack(OwnedStack):
    """The check that a cluster's AMI exists, in a stack that costs nothing.

    A new account has none of our AMIs: one must be baked and published first. This stack finds the
    AMI as the compute stack will, and fails with the commands that make one. What bills, the
    network and the file system, comes after it. It exports nothing, and nothing is in it that
    deleting it would lose.
    """

    def __init__(self, scope: Construct, *, cluster: ClusterPlan) -> None:
        """Declare the stack, called as the plan says.

        Args:
            scope: the app.
            cluster: whose nodes boot the AMI.
        """
        super().__init__(
            scope,
            cluster.prerequisites_stack_name,
            owners=[cluster],
            cluster=cluster.name,
            description="Check of what a training cluster needs before it is made",
        )
        pinned_ami(self, cluster.ami)
