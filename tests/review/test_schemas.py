"""What AWS's published schemas say about the difference between two versions of a template."""

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from trainshed.review.model import Effect
from trainshed.review.published_schemas import SchemaEffect, schema_effects

GROUP: Mapping[str, Any] = {
    "Type": "AWS::EC2::SecurityGroup",
    "Properties": {"GroupDescription": "EFA peers", "VpcId": "vpc-1"},
    "Metadata": {"aws:cdk:path": "Train/Efa/Group/Resource"},
}
KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
BUCKET: Mapping[str, Any] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "b"}, **KEPT}


def with_properties(resource: Mapping[str, Any], **properties: Any) -> Mapping[str, Any]:
    return {**resource, "Properties": {**resource["Properties"], **properties}}


def effects(old: dict[str, Any], new: dict[str, Any]) -> dict[str, SchemaEffect]:
    return schema_effects("us-west-2", old, new)


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
    found = effects({"Group": old}, {"Group": new})

    assert found == {"Group": SchemaEffect(effect=Effect(effect), properties=properties)}


def test_metadata_and_dependencies_alone_are_no_change() -> None:
    other = {**GROUP, "Metadata": {"aws:asset:path": "other"}, "DependsOn": ["Bucket"]}

    assert effects({"Group": GROUP, "Bucket": BUCKET}, {"Group": other, "Bucket": BUCKET}) == {}


def test_what_only_one_template_has_is_not_compared() -> None:
    assert effects({"Group": GROUP}, {"Bucket": BUCKET}) == {}


@pytest.mark.parametrize(
    ("referring", "forcing"), [(RULE, ("GroupId",)), (ALIAS, ("AliasName",))], ids=["GetAtt", "Sub"]
)
def test_what_refers_to_a_replaced_resource_by_a_create_only_property_is_replaced(
    referring: Any, forcing: tuple[str, ...]
) -> None:
    other = with_properties(GROUP, GroupDescription="Peers")

    found = effects({"Group": GROUP, "Mine": referring}, {"Group": other, "Mine": referring})

    assert {name: (each.effect, each.properties) for name, each in found.items()} == {
        "Group": ("replaced", ("GroupDescription",)),
        "Mine": ("replaced", forcing),
    }


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

    found = effects({"Guard": guard, "Data": data}, {"Guard": other, "Data": data}).get("Data")

    assert (found and (found.effect, found.properties)) == (effect and (effect, (name,)))


def test_comparing_templates_loads_no_embedded_aws() -> None:
    program = "import sys, trainshed.review.published_schemas; sys.exit('moto' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program])

    assert done.returncode == 0
