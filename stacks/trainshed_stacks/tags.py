"""The tags that every resource carries."""

from collections.abc import Iterable

import aws_cdk as cdk

from trainshed.plan import ClusterPlan

# CloudFormation sets the tags of a placement group at its creation only: a new owner would bring a
# new group while nodes run in the old one. The nodes say who owns them.
_TAGGED_ONCE = ["AWS::EC2::PlacementGroup"]


def tag(stack: cdk.Stack, name: str, users: Iterable[ClusterPlan]) -> None:
    """Put `trainshed:cluster` and `owner` on every resource of a stack that takes tags.

    A type whose tags cannot change gets the first only: a cluster keeps its name.

    Args:
        stack: the stack.
        name: the cluster's name, or that of what clusters share.
        users: the clusters that use it; their owners own it.
    """
    owners = dict.fromkeys(user.spec.owner for user in users)
    cdk.Tags.of(stack).add("trainshed:cluster", name)
    cdk.Tags.of(stack).add("owner", " ".join(owners), exclude_resource_types=_TAGGED_ONCE)
