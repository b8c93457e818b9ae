"""PinnedAmi: what it may read, and which resource a selector is."""

import json
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Template

from trainshed_constructs import PinnedAmi

NAME = "/trainshed/ami/neuron/ecs/stable"


def template(
    ami: str = NAME, version: int | None = None, cell: str | None = None
) -> dict[str, Any]:
    stack = Stack(App(), "Compute")
    PinnedAmi(stack, "Ami", ami=ami, version=version, cell=cell)
    return dict(Template.from_stack(stack).to_json())


def pinned(template: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    [(name, resource)] = [
        (name, each)
        for name, each in template["Resources"].items()
        if each["Type"] == "Custom::PinnedAmi"
    ]
    return name, resource["Properties"]


def test_another_version_is_another_resource() -> None:
    newest, seventh, eighth = (pinned(template(version=each)) for each in (None, 7, 8))

    assert newest[1]["Ami"] == NAME
    assert seventh[1]["Ami"] == f"{NAME}:7"
    assert len({newest[0], seventh[0], eighth[0]}) == 3
    assert pinned(template(version=7)) == seventh


def test_another_cell_is_another_resource() -> None:
    neuron, nvidia = (pinned(template(cell=f"{each}/ecs")) for each in ("neuron", "nvidia"))

    assert neuron[0] != nvidia[0]
    assert (neuron[1]["Cell"], nvidia[1]["Cell"]) == ("neuron/ecs", "nvidia/ecs")


def test_an_ami_id_needs_no_right_to_read_a_parameter() -> None:
    asked = template("ami-0123456789abcdef0")

    assert pinned(asked)[1]["Ami"] == "ami-0123456789abcdef0"
    assert "ssm:" not in json.dumps(asked)


@pytest.mark.parametrize(
    ("parameter", "account"),
    [
        pytest.param(NAME, {"Ref": "AWS::AccountId"}, id="ours"),
        pytest.param("/aws/service/ecs/x", None, id="public"),
    ],
)
def test_the_function_may_read_that_parameter_only(
    parameter: str, account: dict[str, str] | None
) -> None:
    [role] = [
        each["Properties"]
        for each in template(parameter, 7)["Resources"].values()
        if each["Type"] == "AWS::IAM::Role"
    ]

    statements = role["Policies"][0]["PolicyDocument"]["Statement"]
    [reading] = [each for each in statements if "ssm" in json.dumps(each)]
    parts = reading["Resource"]["Fn::Join"][1]
    assert reading["Action"] == "ssm:GetParameter"
    assert (account in parts) is (account is not None)
    assert parts[-1] == f":parameter{parameter}" if account else f"::parameter{parameter}"
    assert "ManagedPolicyArns" not in role
