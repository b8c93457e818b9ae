"""The tags that every resource carries."""

from collections.abc import Iterable

import aws_cdk as cdk

from trainshed.plan import ClusterPlan


def tag(stack: cdk.Stack, name: str, users: Iterable[ClusterPlan]) -> None:
    """Put `trainshed:cluster` and `owner` on every resource of a stack that takes tags.

    Args:
        stack: the stack.
        name: the cluster's name, or that of what clusters share.
        users: the clusters that use it; their owners own it.
    """
    owners = dict.fromkeys(user.spec.owner for user in users)
    cdk.Tags.of(stack).add("trainshed:cluster", name)
    cdk.Tags.of(stack).add("owner", " ".join(owners))
