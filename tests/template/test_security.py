"""One key and one set of rules for IAM roles reach every resource of every stack."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from trainshed.plan import Fleet, plan_fleet
from trainshed.plan.pipeline import load_ami_pipeline
from trainshed.spec import ClusterSpec, IamSpec, read_spec

ROOT = Path(__file__).parents[2]
REGION, ACCOUNT = "us-west-2", "123456789012"
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789"
BOUNDARY = f"arn:aws:iam::{ACCOUNT}:policy/TeamBoundary"
# The longest prefix: names have to stay within IAM's 64 characters.
PREFIX = "a-team-with-a-long-name-"
PIPELINE = {
    "region": REGION,
    "repository": "https://github.com/example/trainshed",
    "connection": f"arn:aws:codeconnections:{REGION}:{ACCOUNT}:"
    "connection/0a1b2c3d-4e5f-6789-abcd-ef0123456789",
    "cells": ["neuron/ecs"],
    "schedule": "rate(7 days)",
    "notify": ["ml-platform@example.com"],
    "kms_key": KEY,
    "iam": {"boundary": BOUNDARY, "prefix": PREFIX},
}
PLAIN = {
    "name": "PlainCluster",
    "region": REGION,
    "orchestrator": "ec2",
    "instance": {"type": "trn1.32xlarge", "nodes": {"max": 2}},
    "notify": ["ml-platform@example.com"],
}
# A property of these names, wherever it stands in a type's schema, takes a key.
_TAKES_A_KEY = re.compile(r'"(Kms\w*|EncryptionKey)": \{')

Templates = Mapping[str, dict[str, Any]]


@pytest.fixture(scope="module")
def templates(
    synthesise: Callable[[Fleet], Path],
    context: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Templates:
    """The shipped clusters, one of plain EC2 nodes, and an AMI pipeline: all with key and rules."""
    asked = {"kms_key": KEY, "iam": IamSpec(boundary=BOUNDARY, prefix=PREFIX)}
    readings = [read_spec(path) for path in (ROOT / "clusters").glob("*.yaml")]
    specs = [
        spec.model_copy(update=asked)
        for spec in (*(reading.spec for reading in readings), ClusterSpec.model_validate(PLAIN))
        if spec
    ]
    folders = [
        synthesise(plan_fleet(specs)),
        _pipeline(context, tmp_path_factory.mktemp("pipeline")),
    ]
    return {
        path.name.split(".")[0]: json.loads(path.read_text())
        for folder in folders
        for path in folder.glob("*.template.json")
    }


def _pipeline(context: dict[str, Any], folder: Path) -> Path:
    import aws_cdk as cdk
    from cdk_nag import AwsSolutionsChecks

    from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline

    file = folder / "ami-pipeline.yaml"
    file.write_text(json.dumps(PIPELINE))
    app = cdk.App(context=context, outdir=str(folder / "out"))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    add_ami_pipeline(app, load_ami_pipeline(file, pins=ROOT / "packer/pins.json"))
    return Path(app.synth().directory)


def resources(templates: Templates) -> Iterator[tuple[str, dict[str, Any]]]:
    for stack, template in templates.items():
        for name, resource in template["Resources"].items():
            yield f"{stack}/{name}", resource


def takes_a_key(resource: Mapping[str, Any]) -> bool:
    kind = resource["Type"]
    if kind.startswith("Custom::"):
        return False
    if kind == "AWS::Lambda::Function":
        # Of a function only the variables are encrypted; its code here is public.
        return "Environment" in resource["Properties"]
    schema = json.dumps(PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, kind).schema)
    return bool(_TAKES_A_KEY.search(schema))


def is_scratch(resource: Mapping[str, Any]) -> bool:
    configuration = resource.get("Properties", {}).get("LustreConfiguration", {})
    return str(configuration.get("DeploymentType", "")).startswith("SCRATCH")


def test_every_resource_that_can_be_encrypted_with_the_key_is(templates: Templates) -> None:
    taking = {
        place: resource
        for place, resource in resources(templates)
        if takes_a_key(resource) and not is_scratch(resource)
    }
    kinds = {resource["Type"] for resource in taking.values()}

    without = [place for place, resource in taking.items() if KEY not in json.dumps(resource)]

    assert {
        "AWS::EC2::LaunchTemplate",
        "AWS::ECR::Repository",
        "AWS::ECR::RepositoryCreationTemplate",
        "AWS::FSx::FileSystem",
        "AWS::Lambda::Function",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::SNS::Topic",
    } <= kinds
    assert without == []


def test_no_key_is_made_beside_the_given_one(templates: Templates) -> None:
    assert [place for place, each in resources(templates) if each["Type"] == "AWS::KMS::Key"] == []


def test_a_scratch_file_system_gets_no_key_because_fsx_refuses_one(templates: Templates) -> None:
    scratch = [resource for _, resource in resources(templates) if is_scratch(resource)]

    assert scratch
    assert not [each for each in scratch if "KmsKeyId" in each["Properties"]]


def test_every_role_has_the_boundary(templates: Templates) -> None:
    roles = {
        place: each["Properties"].get("PermissionsBoundary")
        for place, each in resources(templates)
        if each["Type"] in ("AWS::IAM::Role", "AWS::IAM::User")
    }

    assert len({place.partition("/")[0] for place in roles}) > len(templates) / 2
    assert set(roles.values()) == {BOUNDARY}


def test_every_role_and_instance_profile_has_the_prefix_and_a_name_of_its_own(
    templates: Templates,
) -> None:
    fields = {"AWS::IAM::Role": "RoleName", "AWS::IAM::InstanceProfile": "InstanceProfileName"}

    names = [
        each["Properties"].get(fields[each["Type"]], place)
        for place, each in resources(templates)
        if each["Type"] in fields
    ]

    assert [name for name in names if not re.fullmatch(rf"{PREFIX}{REGION}-[\w-]+", name)] == []
    assert max(map(len, names)) <= 64
    assert len(set(names)) == len(names)
