"""What CodeBuild refuses, and EventBridge of targets."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Refusal = Callable[..., Any]
CONNECTION = (
    "arn:aws:codeconnections:us-west-2:123456789012:connection/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
)
GITHUB = {"type": "GITHUB", "location": "https://github.com/example/project.git"}


@pytest.fixture(scope="session")
def build_role(client: Callable[..., Any]) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "codebuild.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    role = client("iam").create_role(RoleName="builder", AssumeRolePolicyDocument=document)
    arn: str = role["Role"]["Arn"]
    return arn


@pytest.fixture
def project(build_role: str, name: str) -> dict[str, Any]:
    """What a project needs."""
    return {
        "name": name,
        "artifacts": {"type": "NO_ARTIFACTS"},
        "environment": {
            "type": "LINUX_CONTAINER",
            "computeType": "BUILD_GENERAL1_SMALL",
            "image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
        },
        "serviceRole": build_role,
        "source": GITHUB | {"auth": {"type": "CODECONNECTIONS", "resource": CONNECTION}},
    }


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "-bake"}, "Value '-bake' at 'name'"),
        ({"timeoutInMinutes": 2161}, "less than or equal to 2160"),
        ({"queuedTimeoutInMinutes": 481}, "less than or equal to 480"),
        ({"concurrentBuildLimit": 0}, "Invalid concurrentBuildLimit 0"),
        ({"source": {"type": "GITHUB"}}, "source location is required"),
        ({"source": GITHUB | {"location": "git@github.com:a/b"}}, "Invalid GitHub repository URL"),
        (
            {"source": GITHUB | {"auth": {"type": "CODECONNECTIONS", "resource": "mine"}}},
            "Invalid connection ARN: mine",
        ),
        ({"source": {"type": "NO_SOURCE"}}, "Buildspec is required"),
        ({"artifacts": {"type": "S3"}}, "artifacts location is required"),
        (
            {"environment": {"type": "LINUX", "computeType": "X", "image": "y"}},
            "Value 'LINUX' at 'environment.type'",
        ),
    ],
)
def test_a_project_that_aws_would_not_take_is_refused(
    client: Callable[..., Any],
    refusal: Refusal,
    project: dict[str, Any],
    changes: dict[str, Any],
    words: str,
) -> None:
    refused = refusal(client("codebuild").create_project, **(project | changes))

    assert refused.code == "InvalidInputException"
    assert words in refused.message


def test_a_role_that_codebuild_may_not_assume_is_refused(
    client: Callable[..., Any], refusal: Refusal, project: dict[str, Any], role: str
) -> None:
    for arn in (role, "arn:aws:iam::123456789012:role/none"):
        refused = refusal(client("codebuild").create_project, **(project | {"serviceRole": arn}))

        assert refused.message == f"CodeBuild is not authorized to perform: sts:AssumeRole on {arn}"


def test_a_refused_change_changes_nothing(
    client: Callable[..., Any], refusal: Refusal, project: dict[str, Any], name: str
) -> None:
    codebuild = client("codebuild")
    codebuild.create_project(**project, timeoutInMinutes=30)

    refusal(codebuild.update_project, name=name, timeoutInMinutes=2161, description="changed")

    [found] = codebuild.batch_get_projects(names=[name])["projects"]
    assert found["timeoutInMinutes"] == 30
    assert "description" not in found


def test_a_webhook_needs_access_and_comes_once(
    client: Callable[..., Any], refusal: Refusal, project: dict[str, Any], name: str
) -> None:
    codebuild = client("codebuild")
    codebuild.create_project(**(project | {"source": GITHUB}))

    without = refusal(codebuild.create_webhook, projectName=name)
    codebuild.update_project(name=name, source=project["source"])
    codebuild.create_webhook(projectName=name)
    again = refusal(codebuild.create_webhook, projectName=name)
    codebuild.delete_webhook(projectName=name)
    gone = refusal(codebuild.delete_webhook, projectName=name)

    assert without.message == "Could not find access token for server type github"
    assert again.code == "ResourceAlreadyExistsException"
    assert gone.code == "ResourceNotFoundException"


def test_a_target_that_cannot_let_eventbridge_in_needs_a_role(
    client: Callable[..., Any], refusal: Refusal, name: str, role: str
) -> None:
    events = client("events")
    events.put_rule(Name=name, ScheduleExpression="rate(1 hour)")
    arn = "arn:aws:codebuild:us-west-2:123456789012:project/bake"

    refused = refusal(events.put_targets, Rule=name, Targets=[{"Id": "1", "Arn": arn}])
    events.put_targets(Rule=name, Targets=[{"Id": "1", "Arn": arn, "RoleArn": role}])

    assert refused.message == f"RoleArn is required for target {arn}."


def test_a_rule_has_five_targets(client: Callable[..., Any], refusal: Refusal, name: str) -> None:
    events = client("events")
    events.put_rule(Name=name, ScheduleExpression="rate(1 hour)")
    topic = "arn:aws:sns:us-west-2:123456789012:t"
    events.put_targets(Rule=name, Targets=[{"Id": str(n), "Arn": topic} for n in range(5)])

    refused = refusal(events.put_targets, Rule=name, Targets=[{"Id": "5", "Arn": topic}])

    assert refused.code == "LimitExceededException"
