"""What CloudFormation would make of the difference between two versions of a template."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainshed.synthesis import SynthesisedStack
from trainshed.template_changes import TemplateChange, template_changes

GROUP: Mapping[str, Any] = {
    "Type": "AWS::EC2::SecurityGroup",
    "Properties": {"GroupDescription": "EFA peers", "VpcId": "vpc-1"},
    "Metadata": {"aws:cdk:path": "Train/Efa/Group/Resource"},
}
KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
BUCKET: Mapping[str, Any] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "b"}, **KEPT}


def with_properties(resource: Mapping[str, Any], **properties: Any) -> Mapping[str, Any]:
    return {**resource, "Properties": {**resource["Properties"], **properties}}


def stacks(**resources: Any) -> dict[str, SynthesisedStack]:
    stack = SynthesisedStack(
        path="Train",
        region="us-west-2",
        file=Path("Train.template.json"),
        template={"Resources": resources},
    )
    return {"Train": stack}


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[TemplateChange]:
    return template_changes(stacks(**old), stacks(**new))


RULE: Mapping[str, Any] = {
    "Type": "AWS::EC2::SecurityGroupIngress",
    "Properties": {"IpProtocol": "-1", "GroupId": {"Fn::GetAtt": ["Group", "GroupId"]}},
}
# A computed name in a Sub, of a property that is create-only.
ALIAS: Mapping[str, Any] = {
    "Type": "AWS::KMS::Alias",
    "Properties": {"AliasName": {"Fn::Sub": "alias/${Group.GroupId}"}, "TargetKeyId": "k"},
}
INSTANCE: Mapping[str, Any] = {"Type": "AWS::EC2::Instance", "Properties": {"ImageId": "ami-1"}}
ENVIRONMENT: Mapping[str, Any] = {
    "Type": "AWS::Batch::ComputeEnvironment",
    "Properties": {"Type": "MANAGED", "ComputeResources": {"Type": "EC2", "MaxvCpus": 8}},
}


@pytest.mark.parametrize(
    ("old", "new", "effect", "properties"),
    [
        pytest.param(None, GROUP, "added", (), id="added"),
        pytest.param(GROUP, None, "removed", (), id="removed"),
        pytest.param(
            GROUP,
            with_properties(GROUP, GroupDescription="Peers"),
            "replaced",
            ("GroupDescription",),
            id="create-only",
        ),
        pytest.param(
            GROUP,
            with_properties(GROUP, GroupDescription="Peers", Tags=[{"Key": "a", "Value": "b"}]),
            "replaced",
            ("GroupDescription",),
            id="only-what-forces-it",
        ),
        pytest.param(
            ENVIRONMENT,
            with_properties(ENVIRONMENT, ComputeResources={"Type": "EC2", "MaxvCpus": 16}),
            "changed",
            ("ComputeResources.MaxvCpus",),
            id="in-place",
        ),
        pytest.param(
            INSTANCE,
            with_properties(INSTANCE, EbsOptimized=True),
            "may be replaced",
            ("EbsOptimized",),
            id="conditional",
        ),
        pytest.param(GROUP, {**GROUP, **KEPT}, "changed", tuple(KEPT), id="policy"),
        pytest.param(
            GROUP, {**BUCKET, "Metadata": GROUP["Metadata"]}, "replaced", ("Type",), id="type"
        ),
    ],
)
def test_effect_on_a_resource(old: Any, new: Any, effect: str, properties: tuple[str, ...]) -> None:
    [change] = changes({"Group": old} if old else {}, {"Group": new} if new else {})

    assert (change.effect, change.properties) == (effect, properties)


def test_metadata_and_dependencies_alone_are_no_change() -> None:
    other = {**GROUP, "Metadata": {"aws:asset:path": "other"}, "DependsOn": ["Bucket"]}

    assert changes({"Group": GROUP, "Bucket": BUCKET}, {"Group": other, "Bucket": BUCKET}) == []


@pytest.mark.parametrize(
    ("referring", "forcing"), [(RULE, ("GroupId",)), (ALIAS, ("AliasName",))], ids=["GetAtt", "Sub"]
)
def test_what_refers_to_a_replaced_resource_by_a_create_only_property_is_replaced(
    referring: Any, forcing: tuple[str, ...]
) -> None:
    other = with_properties(GROUP, GroupDescription="Peers")

    found = changes({"Group": GROUP, "Mine": referring}, {"Group": other, "Mine": referring})

    assert [(each.name, each.effect, each.properties) for each in found] == [
        ("Efa/Group", "replaced", ("GroupDescription",)),
        ("Mine", "replaced", forcing),
    ]


def test_data_at_risk_is_first_and_then_the_worst_effect() -> None:
    old = {"Group": GROUP, "Gone": ENVIRONMENT, "Data": BUCKET, "More": BUCKET}
    new = {"Group": with_properties(GROUP, GroupDescription="Peers"), "New": ENVIRONMENT}

    found = changes(old, new | {"Data": with_properties(BUCKET, BucketName="c")})

    assert [(each.name, each.effect, each.data_at_risk) for each in found] == [
        ("Data", "replaced", True),
        ("More", "removed", True),
        ("Efa/Group", "replaced", False),
        ("Gone", "removed", False),
        ("New", "added", False),
    ]


@pytest.mark.parametrize(
    ("name", "value", "effect"),
    [("DeploymentType", "PERSISTENT_1", "replaced"), ("StorageCapacity", 2400, None)],
)
def test_a_file_system_is_replaced_as_its_guard_says(
    name: str, value: object, effect: str | None
) -> None:
    frozen = {"DeploymentType": "PERSISTENT_2", "StorageCapacity": 1200}
    guard = {"Type": "Custom::ReplacementGuard", "Properties": {"FileSystem": frozen}}
    data = {"Type": "AWS::FSx::FileSystem", "Properties": {}, "DependsOn": ["Guard"], **KEPT}
    other = {**guard, "Properties": {"FileSystem": {**frozen, name: value}}}

    found = changes({"Guard": guard, "Data": data}, {"Guard": other, "Data": data})

    assert [(each.effect, each.properties) for each in found if each.name == "Data"] == (
        [(effect, (name,))] if effect else []
    )


def test_a_stack_of_one_side_is_one_change() -> None:
    old, new = stacks(Group=GROUP), {"Other": stacks(Group=GROUP)["Train"]}

    found = template_changes(old, new)

    assert [(each.stack, each.resource_type, each.effect) for each in found] == [
        ("Train", "stack", "removed"),
        ("Other", "stack", "added"),
    ]


def test_comparing_templates_loads_no_embedded_aws() -> None:
    program = "import sys, trainshed.template_changes; sys.exit('moto' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program])

    assert done.returncode == 0
