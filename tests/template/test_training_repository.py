"""TrainingRepository in a template."""

import json

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Match, Template

from trainshed_constructs import ConstructError, TrainingRepository, grant_pull

REPOSITORY = "AWS::ECR::Repository"


def build(scope: cdk.Stack, name: str = "train") -> TrainingRepository:
    return TrainingRepository(scope, "Images", repository_name=name)


def node_role(scope: cdk.Stack) -> iam.Role:
    return iam.Role(scope, "Node", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))


@pytest.fixture(scope="module")
def template() -> Template:
    stack = cdk.Stack(cdk.App(), "Stack")
    build(stack).grant_pull(node_role(stack))
    return Template.from_stack(stack)


def test_a_tag_is_one_image_for_ever_and_every_image_is_scanned(template: Template) -> None:
    template.has_resource_properties(
        REPOSITORY,
        {
            "RepositoryName": "train",
            "ImageTagMutability": "IMMUTABLE",
            "ImageScanningConfiguration": {"ScanOnPush": True},
        },
    )


def test_images_outlive_the_stack(template: Template) -> None:
    template.has_resource(
        REPOSITORY,
        {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"},
    )


def test_only_untagged_images_are_ever_deleted(template: Template) -> None:
    [repository] = template.find_resources(REPOSITORY).values()
    policy = json.loads(repository["Properties"]["LifecyclePolicy"]["LifecyclePolicyText"])

    [rule] = policy["rules"]

    assert rule["selection"]["tagStatus"] == "untagged"
    assert (rule["selection"]["countNumber"], rule["selection"]["countUnit"]) == (14, "days")


def test_pulling_is_granted_on_this_repository_only(template: Template) -> None:
    [repository] = template.find_resources(REPOSITORY)

    template.has_resource_properties(
        "AWS::IAM::Policy",
        {
            "PolicyDocument": {
                "Statement": [
                    {
                        "Action": [
                            "ecr:BatchCheckLayerAvailability",
                            "ecr:BatchGetImage",
                            "ecr:GetDownloadUrlForLayer",
                        ],
                        "Resource": {"Fn::GetAtt": [repository, "Arn"]},
                    }
                ]
            }
        },
    )


def test_pulling_is_granted_on_a_repository_of_another_stack() -> None:
    stack = cdk.Stack(cdk.App(), "Stack")
    repository = ecr.Repository.from_repository_name(stack, "Images", "train")

    grant_pull(repository, node_role(stack))

    Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::Policy",
        {"PolicyDocument": {"Statement": [Match.object_like({"Resource": Match.not_("*")})]}},
    )


@pytest.mark.parametrize("name", ["Train", "t", "train//x", "-train", "a" * 257])
def test_a_name_that_ecr_refuses_is_refused(name: str) -> None:
    with pytest.raises(ConstructError, match="is not allowed"):
        build(cdk.Stack(cdk.App(), "Stack"), name)
