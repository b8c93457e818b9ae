"""SSM parameters that hold an AMI, and log retention."""

from collections.abc import Callable
from typing import Any

import pytest
from moto.ssm.models import SimpleSystemManagerBackend


@pytest.mark.parametrize("value", ["al2023", "ami-xyz", "ami-0123"])
def test_an_image_parameter_holds_an_ami_id(
    client: Callable[..., Any], name: str, refusal: Callable[..., Any], value: str
) -> None:
    image = {"Name": f"/{name}", "Type": "String", "DataType": "aws:ec2:image"}

    refused = refusal(client("ssm").put_parameter, **image, Value=value)
    client("ssm").put_parameter(**image, Value="ami-0123456789abcdef0")

    assert refused.code == "ValidationException"
    assert f"'{value}' is not a valid AMI ID" in refused.message
    found = client("ssm").get_parameter(Name=f"/{name}")["Parameter"]
    assert (found["Value"], found["DataType"]) == ("ami-0123456789abcdef0", "aws:ec2:image")


def test_a_parameter_does_not_become_an_image_nor_cease_to_be_one(
    client: Callable[..., Any], name: str, refusal: Callable[..., Any]
) -> None:
    ssm, image = client("ssm"), "ami-0123456789abcdef0"
    text = {"Name": f"/{name}/text", "Type": "String", "Value": image, "DataType": "text"}
    other = {**text, "Name": f"/{name}/image", "DataType": "aws:ec2:image"}
    ssm.put_parameter(**text)
    ssm.put_parameter(**other)

    refused = [
        refusal(ssm.put_parameter, **text | {"DataType": "aws:ec2:image"}, Overwrite=True),
        refusal(ssm.put_parameter, **other | {"DataType": "text"}, Overwrite=True),
    ]

    assert [one.code for one in refused] == ["ValidationException"] * 2
    assert f"/{name}/text can't be changed from text to aws:ec2:image" in refused[0].message


def test_a_text_parameter_holds_anything(client: Callable[..., Any], name: str) -> None:
    client("ssm").put_parameter(Name=f"/{name}", Type="String", Value="al2023")

    assert client("ssm").get_parameter(Name=f"/{name}")["Parameter"]["Value"] == "al2023"


def test_retention_is_one_of_the_known_periods(
    client: Callable[..., Any], name: str, refusal: Callable[..., Any]
) -> None:
    logs = client("logs")
    logs.create_log_group(logGroupName=name)

    refused = refusal(logs.put_retention_policy, logGroupName=name, retentionInDays=31)
    logs.put_retention_policy(logGroupName=name, retentionInDays=30)

    assert refused.code == "InvalidParameterException"
    found = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"][0]
    assert found["retentionInDays"] == 30


def test_parameters_are_described_while_others_come_and_go(
    client: Callable[..., Any], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssm = client("ssm")
    for letter in "abc":
        ssm.put_parameter(Name=f"/{name}/{letter}", Type="String", Value=letter)
    find = SimpleSystemManagerBackend.get_parameter
    changed: list[str] = []

    def while_others_change_them(backend: Any, parameter: str) -> Any:
        if not changed and parameter == f"/{name}/a":
            changed.append(parameter)
            ssm.put_parameter(Name=f"/{name}/d", Type="String", Value="d")
            ssm.delete_parameter(Name=f"/{name}/c")
        return find(backend, parameter)

    monkeypatch.setattr(SimpleSystemManagerBackend, "get_parameter", while_others_change_them)
    found = ssm.get_parameters_by_path(Path=f"/{name}")["Parameters"]

    assert [each["Value"] for each in found] == ["a", "b"]
