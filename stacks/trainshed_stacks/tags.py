"""The tags that every resource carries."""

from collections.abc import Iterable

import aws_cdk as cdk

from trainshed.plan import ClusterPlan, resource_tags

# CloudFormation sets the tags of a placement group at its creation only: a new owner would bring a
# new group while nodes run in the old one. The nodes say who owns them.
_TAGGED_ONCE = ["AWS::EC2::PlacementGroup"]


def tag(stack: cdk.Stack, name: str, users: Iterable[ClusterPlan]) -> None:
    """Put `trainshed:cluster`, `owner` and the users' own tags on what takes tags in a stack.

    A type whose tags cannot change gets the first only: a cluster keeps its name.

    Args:
        stack: the stack.
        name: the cluster's name, or that of what clusters share.
        users: the clusters that use it; their owners own it, and it has the tags of all.
    """
    cdk.Tags.of(stack).add("trainshed:cluster", name)
    for key, value in resource_tags(user.spec for user in users).items():
        cdk.Tags.of(stack).add(key, value, exclude_resource_types=_TAGGED_ONCE)
