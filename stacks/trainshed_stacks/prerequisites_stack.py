"""What must exist before a cluster's resources that cost money are made."""

import aws_cdk as cdk
from constructs import Construct

from trainshed.plan import AmiPlan
from trainshed_constructs import PinnedAmi


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


class PrerequisitesStack(cdk.Stack):
    """The check that a cluster's AMI exists, in a stack that costs nothing.

    A new account has none of our AMIs: one must be baked and published first. This stack finds the
    AMI as the compute stack will, and fails with the commands that make one. What bills, the
    network and the file system, comes after it. It exports nothing, and nothing is in it that
    deleting it would lose.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, ami: AmiPlan, env: cdk.Environment
    ) -> None:
        """Declare the stack.

        Args:
            scope: the app.
            construct_id: the stack's name.
            ami: the AMI of the nodes.
            env: account and region.
        """
        super().__init__(
            scope,
            construct_id,
            env=env,
            description="Check of what a training cluster needs before it is made",
        )
        pinned_ami(self, ami)
