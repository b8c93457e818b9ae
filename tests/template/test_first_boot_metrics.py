"""What nodes that send metrics need: a log group, and the right to write there."""

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Match, Template

from trainshed_constructs import ConstructError, FirstBoot


def template(*, monitoring: bool) -> Template:
    stack = cdk.Stack(cdk.App(), "Stack")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    FirstBoot(stack, "FirstBoot", cluster="Train", monitoring=monitoring).grant(role)
    return Template.from_stack(stack)


def test_the_events_go_with_the_cluster_and_after_a_day() -> None:
    template(monitoring=True).has_resource(
        "AWS::Logs::LogGroup",
        {
            "Properties": {"LogGroupName": "/trainshed/Train/metrics", "RetentionInDays": 1},
            "DeletionPolicy": "Delete",
        },
    )


def test_nodes_may_write_to_this_log_group_alone() -> None:
    made = template(monitoring=True)

    [group] = made.find_resources("AWS::Logs::LogGroup")
    made.has_resource_properties(
        "AWS::IAM::Policy",
        {
            "PolicyDocument": {
                "Statement": [
                    {
                        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
                        "Effect": "Allow",
                        "Resource": {"Fn::GetAtt": [group, "Arn"]},
                    }
                ],
                "Version": Match.any_value(),
            }
        },
    )


def test_without_monitoring_there_is_none() -> None:
    made = template(monitoring=False)

    made.resource_count_is("AWS::Logs::LogGroup", 0)
    made.resource_count_is("AWS::IAM::Policy", 0)


def test_metrics_are_of_a_cluster() -> None:
    with pytest.raises(ConstructError, match="monitoring needs the name of the cluster"):
        FirstBoot(cdk.Stack(), "FirstBoot", monitoring=True)
