"""The tags that every resource carries."""

from collections.abc import Iterable, Mapping
from typing import Final

import aws_cdk as cdk

from trainshed.plan import ClusterPlan, resource_tags
from trainshed.tags import CLUSTER_TAG

# Types that CloudFormation replaces when their tags change, and who says so: the resource schemas
# that AWS publishes ("schema"), the data that `cdk diff` uses ("CDK"), issues of
# CloudFormation's public roadmap. The sources disagree, and a replaced job queue ends its jobs, so
# one is enough.
REPLACED_FOR_TAGS: Final = {
    "AWS::Batch::ComputeEnvironment": "schema, CDK, roadmap issue 2270",
    "AWS::Batch::JobDefinition": "CDK; the schema says that tags change in place",
    "AWS::Batch::JobQueue": "CDK, roadmap issue 2463; the schema says that tags change in place",
    "AWS::EC2::PlacementGroup": "schema, CDK",
}


def tag(stack: cdk.Stack, name: str, users: Iterable[ClusterPlan]) -> None:
    """Put `trainshed:cluster`, `owner` and the users' own tags on what takes tags in a stack.

    Args:
        stack: the stack.
        name: the cluster's name, or that of what clusters share; it never changes.
        users: the clusters that use it; their owners own it, and it has the tags of all.
    """
    of_stack = cdk.Tags.of(stack)
    of_stack.add(CLUSTER_TAG, name)
    add_tags(of_stack, resource_tags(user.tags for user in users))


def add_tags(of_stack: cdk.Tags, tags: Mapping[str, str]) -> None:
    """Put tags that may change on what a change of tags does not replace."""
    # BatchMultiNode puts the tags of a compute environment on its instances only.
    excluded = sorted(REPLACED_FOR_TAGS.keys() - {"AWS::Batch::ComputeEnvironment"})
    for key, value in tags.items():
        of_stack.add(key, value, exclude_resource_types=excluded)
