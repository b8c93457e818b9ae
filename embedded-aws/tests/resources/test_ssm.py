"""Parameters through their handler."""

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
