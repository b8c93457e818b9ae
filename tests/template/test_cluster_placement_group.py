"""ClusterPlacementGroup in a template."""

import aws_cdk as cdk
from aws_cdk.assertions import Match, Template

from trainshed_constructs import ClusterPlacementGroup


def test_the_group_is_of_the_cluster_strategy_and_named_by_ec2() -> None:
    stack = cdk.Stack()

    placement = ClusterPlacementGroup(stack, "Placement")

    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::EC2::PlacementGroup", {"Strategy": "cluster", "GroupName": Match.absent()}
    )
    [group] = template.find_resources("AWS::EC2::PlacementGroup")
    assert stack.resolve(placement.name) == {"Fn::GetAtt": [group, "GroupName"]}
