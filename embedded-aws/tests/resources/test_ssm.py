"""Parameters and documents through their handlers."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError


def test_a_parameter_changes_value_and_tags_in_place(client: Any, deploy: Any) -> None:
    ssm = client("ssm")
    parameter = deploy(
        "AWS::SSM::Parameter", Name="/lustre/mount", Type="String", Value="a", Tags={"old": "1"}
    )

    parameter.update(Value="b", Tags={"new": "2"})

    found = ssm.get_parameter(Name="/lustre/mount")["Parameter"]
    tags = ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId="/lustre/mount")
    assert (found["Value"], found["Version"]) == ("b", 2)
    assert parameter.attributes["Value"] == "b"
    assert {tag["Key"] for tag in tags["TagList"]} >= {"new", "Owner"}
    assert "old" not in {tag["Key"] for tag in tags["TagList"]}
    parameter.delete()
    parameter.delete()
    with pytest.raises(ClientError, match="ParameterNotFound"):
        ssm.get_parameter(Name="/lustre/mount")


def test_an_unnamed_parameter_is_named_after_its_logical_id(deploy: Any) -> None:
    parameter = deploy("AWS::SSM::Parameter", "Mount", Type="String", Value="a")

    assert parameter.ref.startswith("CFN-Mount-")
    assert parameter.attributes["Arn"].endswith(f":parameter/{parameter.ref}")


def content(script: str) -> dict[str, Any]:
    step = {"action": "aws:runShellScript", "name": "run", "inputs": {"runCommand": [script]}}
    return {"schemaVersion": "2.2", "mainSteps": [step]}


def test_a_document_gets_a_new_version_that_is_the_default_one(client: Any, deploy: Any) -> None:
    ssm = client("ssm")
    document = deploy(
        "AWS::SSM::Document",
        Name="versioned",
        DocumentType="Command",
        Content=content("true"),
        UpdateMethod="NewVersion",
        Tags=[{"Key": "old", "Value": "1"}],
    )
    first = ssm.describe_document(Name="versioned")["Document"]

    document.update(Content=content("false"), Tags=[{"Key": "new", "Value": "2"}])

    found = ssm.get_document(Name="versioned")
    described = ssm.describe_document(Name="versioned")["Document"]
    assert (first["DocumentVersion"], first["PlatformTypes"]) == ("1", ["Linux", "MacOS"])
    assert json.loads(found["Content"]) == content("false")
    assert (described["DefaultVersion"], described["LatestVersion"]) == ("2", "2")
    assert {tag["Key"] for tag in described["Tags"]} >= {"new", "Owner"}
    assert "old" not in {tag["Key"] for tag in described["Tags"]}
    document.delete()
    document.delete()
    with pytest.raises(ClientError, match="InvalidDocument"):
        ssm.get_document(Name="versioned")


def test_a_document_without_a_name_or_a_type_is_of_type_command(client: Any, deploy: Any) -> None:
    document = deploy("AWS::SSM::Document", "Job", Content=json.dumps(content("true")))

    found = client("ssm").describe_document(Name=document.ref)["Document"]
    assert document.ref.startswith("Stack-Job-")
    assert found["DocumentType"] == "Command"
    document.delete()
