"""CodeBuild projects through their handler."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

CONNECTION = (
    "arn:aws:codeconnections:us-west-2:210987654321:connection/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
)
PUSHED = [[{"Type": "EVENT", "Pattern": "PUSH"}]]


@pytest.fixture(scope="module")
def service_role(deploy: Any) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "codebuild.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    document = {"Version": "2012-10-17", "Statement": [statement]}
    role = deploy("AWS::IAM::Role", "BuildRole", AssumeRolePolicyDocument=document)
    arn: str = role.attributes["Arn"]
    return arn


@pytest.fixture
def project(deploy: Any, service_role: str) -> Any:
    return deploy(
        "AWS::CodeBuild::Project",
        "Bake",
        Artifacts={"Type": "NO_ARTIFACTS"},
        ConcurrentBuildLimit=1,
        Description="bakes",
        Environment={
            "Type": "LINUX_CONTAINER",
            "ComputeType": "BUILD_GENERAL1_SMALL",
            "Image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
            "EnvironmentVariables": [{"Name": "CELL", "Value": "neuron"}],
        },
        ServiceRole=service_role,
        Source={
            "Type": "GITHUB",
            "Location": "https://github.com/example/project.git",
            "Auth": {"Type": "CODECONNECTIONS", "Resource": CONNECTION},
            "BuildSpec": "version: 0.2",
        },
        SourceVersion="main",
        TimeoutInMinutes=180,
        Triggers={"Webhook": True, "FilterGroups": PUSHED},
        Tags=[{"Key": "Name", "Value": "bake"}],
    )


def described(client: Any, project: Any) -> dict[str, Any]:
    [found] = client("codebuild").batch_get_projects(names=[project.ref])["projects"]
    return dict(found)


def test_a_project_is_as_the_template_says(client: Any, project: Any) -> None:
    found = described(client, project)

    assert found["name"] == project.ref
    assert found["timeoutInMinutes"] == 180
    assert found["concurrentBuildLimit"] == 1
    assert found["environment"]["environmentVariables"][0]["value"] == "neuron"
    assert found["source"]["auth"]["resource"] == CONNECTION
    assert found["webhook"]["filterGroups"] == [[{"type": "EVENT", "pattern": "PUSH"}]]
    assert {"key": "Name", "value": "bake"} in found["tags"]


def test_a_project_changes_in_place_and_loses_what_the_template_drops(
    client: Any, project: Any
) -> None:
    before = described(client, project)

    project.update(
        "ConcurrentBuildLimit",
        "SourceVersion",
        "TimeoutInMinutes",
        "Triggers",
        Description="bakes images",
        Tags=[{"Key": "Name", "Value": "images"}],
    )

    found = described(client, project)
    assert found["arn"] == before["arn"]
    assert found["description"] == "bakes images"
    assert found["timeoutInMinutes"] == 60
    assert found["sourceVersion"] == ""
    assert "webhook" not in found
    assert {"key": "Name", "value": "images"} in found["tags"]


def test_a_webhook_comes_and_changes_with_an_update(client: Any, project: Any) -> None:
    tagged = [[{"Type": "EVENT", "Pattern": "PULL_REQUEST_MERGED"}]]
    project.update("Triggers")

    project.update(Triggers={"Webhook": True, "FilterGroups": PUSHED})
    project.update(Triggers={"Webhook": True, "FilterGroups": tagged})

    webhook = described(client, project)["webhook"]
    assert webhook["filterGroups"][0][0]["pattern"] == "PULL_REQUEST_MERGED"


def test_a_build_of_a_project_can_be_started(client: Any, project: Any) -> None:
    build = client("codebuild").start_build(projectName=project.ref)["build"]

    assert build["projectName"] == project.ref


def test_a_project_is_deleted_once_and_again(client: Any, project: Any) -> None:
    project.delete()
    project.delete()

    assert not client("codebuild").batch_get_projects(names=[project.ref])["projects"]


def test_a_project_whose_webhook_is_refused_is_not_left_behind(
    client: Any, deploy: Any, project: Any
) -> None:
    properties = dict(project.request.properties)
    branch = {"Type": "HEAD_REF", "Pattern": "^refs/heads/main$"}
    properties["Triggers"] = {"Webhook": True, "FilterGroups": [[branch]]}
    before = set(client("codebuild").list_projects()["projects"])

    with pytest.raises(ClientError, match="must have a filter of type EVENT"):
        deploy("AWS::CodeBuild::Project", "Other", **properties)

    assert set(client("codebuild").list_projects()["projects"]) == before
