"""AmiPipeline: what it runs, when, and with which rights."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks

from trainshed.nodes.cells import Cell
from trainshed.pins.reader import project_pins
from trainshed.plan.pipeline import load_ami_pipeline
from trainshed_constructs import ConstructError
from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline

ROOT = Path(__file__).parents[2]
ACCOUNT, REGION = "123456789012", "us-west-2"
CONNECTION = (
    f"arn:aws:codeconnections:{REGION}:{ACCOUNT}:connection/0a1b2c3d-4e5f-6789-abcd-ef0123456789"
)
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/0a1b2c3d-4e5f-6789-abcd-ef0123456789"
BASE = {
    "region": REGION,
    "repository": "https://github.com/example/trainshed",
    "connection": CONNECTION,
    "cells": ["neuron/ecs", "nvidia/eks-1.35"],
    "schedule": "cron(0 3 ? * SUN *)",
}

Synthesised = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def synthesised(context: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """Synthesises a pipeline with cdk-nag, which fails it on a finding."""

    def run(**changes: Any) -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("pipeline")
        file = folder / "p.yaml"
        asked = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
        file.write_text(json.dumps(asked))
        app = cdk.App(context=context, outdir=str(folder / "out"))
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        plan = load_ami_pipeline(file, pins=ROOT / "packer/pins.json")
        add_ami_pipeline(app, plan)
        app.synth()
        found: dict[str, Any] = json.loads((folder / "out/AmiPipeline.template.json").read_text())
        return found

    return run


@pytest.fixture(scope="module")
def template(synthesised: Synthesised) -> dict[str, Any]:
    return synthesised()


def resources(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each for each in template["Resources"].values() if each["Type"] == kind]


def projects(template: dict[str, Any]) -> list[dict[str, Any]]:
    return [each["Properties"] for each in resources(template, "AWS::CodeBuild::Project")]


def buildspec(template: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(projects(template)[0]["Source"]["BuildSpec"])
    return found


def test_each_cell_has_a_project_that_builds_once_at_a_time(template: dict[str, Any]) -> None:
    found = projects(template)

    cells = [
        {each["Name"]: each["Value"] for each in project["Environment"]["EnvironmentVariables"]}
        for project in found
    ]
    assert [(cell["ACCELERATOR"], cell["ORCHESTRATOR"]) for cell in cells] == [
        ("neuron", "ecs"),
        ("nvidia", "eks-1.35"),
    ]
    for project in found:
        assert project["ConcurrentBuildLimit"] == 1
        assert project["TimeoutInMinutes"] == 180 + 90
        assert project["EncryptionKey"]
        assert not project["Environment"].get("PrivilegedMode")
        assert project["Source"]["Auth"] == {"Type": "CODECONNECTIONS", "Resource": CONNECTION}


def test_every_pin_is_that_of_the_pins_file(template: dict[str, Any]) -> None:
    tools = json.loads((ROOT / "packer/pins.json").read_text())["tools"]
    text = "\n".join(buildspec(template)["phases"]["install"]["commands"])

    image = tools.pop("codebuild-image")
    for tool in tools.values():
        assert tool["url"].replace("{version}", tool["version"]) in text
        assert f'echo "{tool["sha256"]}  ' in text
    for project in projects(template):
        assert project["Environment"]["Image"] == image["image"].replace(
            "{version}", image["version"]
        )


def test_a_commit_builds_only_when_it_changes_the_template(synthesised: Synthesised) -> None:
    [project, _] = projects(synthesised(on_commit=True, branch="release/1.0"))

    assert project["Triggers"]["Webhook"] is True
    [group] = project["Triggers"]["FilterGroups"]
    filters = {each["Type"]: each["Pattern"] for each in group}
    assert filters == {
        "EVENT": "PUSH",
        "HEAD_REF": r"^refs/heads/release/1\.0$",
        "FILE_PATH": "^packer/",
    }
    assert project["SourceVersion"] == "release/1.0"


@pytest.mark.parametrize(
    ("changes", "expressions"),
    [
        pytest.param({}, ["cron(0 3 ? * SUN *)"] * 2, id="schedule"),
        pytest.param({"schedule": None, "on_commit": True}, [], id="commits only"),
    ],
)
def test_a_schedule_starts_each_project(
    synthesised: Synthesised, changes: dict[str, Any], expressions: list[str]
) -> None:
    rules = [each["Properties"] for each in resources(synthesised(**changes), "AWS::Events::Rule")]

    scheduled = [rule for rule in rules if "ScheduleExpression" in rule]
    assert [rule["ScheduleExpression"] for rule in scheduled] == expressions
    targets = [rule["Targets"][0]["Arn"]["Fn::GetAtt"][0] for rule in scheduled]
    assert len(set(targets)) == len(expressions)


def test_what_is_kept_is_encrypted_and_outlives_the_stack(template: dict[str, Any]) -> None:
    [bucket] = resources(template, "AWS::S3::Bucket")
    [key] = resources(template, "AWS::KMS::Key")
    [log_group] = resources(template, "AWS::Logs::LogGroup")
    [topic] = resources(template, "AWS::SNS::Topic")

    assert bucket["DeletionPolicy"] == "RetainExceptOnCreate"
    assert key["DeletionPolicy"] == "Retain"
    assert key["Properties"]["EnableKeyRotation"] is True
    assert log_group["Properties"]["KmsKeyId"]
    assert log_group["Properties"]["RetentionInDays"] == 90
    assert topic["Properties"]["KmsMasterKeyId"]


def test_eventbridge_may_publish_how_these_builds_ended(template: dict[str, Any]) -> None:
    [policy] = resources(template, "AWS::SNS::TopicPolicy")
    [rule] = [
        each["Properties"]
        for each in resources(template, "AWS::Events::Rule")
        if "EventPattern" in each["Properties"]
    ]
    [key] = resources(template, "AWS::KMS::Key")

    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    keys = key["Properties"]["KeyPolicy"]["Statement"]
    for allowed in [
        each
        for each in statements + keys
        if each["Principal"] == {"Service": "events.amazonaws.com"}
    ]:
        # EventBridge gives SNS nothing to compare: with a condition, no message arrives.
        assert "Condition" not in allowed
    assert "BuildsEnded" in [each["Sid"] for each in statements]
    assert "BuildsEnded" in [each.get("Sid") for each in keys]
    assert len(rule["EventPattern"]["detail"]["project-name"]) == 2
    assert "RoleArn" not in rule["Targets"][0]


# What the build does, on what, and what is known of the request: what Packer's plugin for EC2 does
# (its documentation, "IAM Task or Instance Role"), and what `trainshed ami publish --test` does.
EC2 = f"arn:aws:ec2:{REGION}:{ACCOUNT}"
AMIS = f"arn:aws:ec2:{REGION}:"
CHANNEL = f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter/trainshed/ami"
OURS = {"aws:ResourceTag/trainshed:role": "ami-builder"}
BORN = {"aws:RequestTag/trainshed:role": "ami-builder"}
HERE = {"aws:RequestedRegion": REGION}

Asked = tuple[str, str, Mapping[str, str]]
NEEDED: dict[str, Asked] = {
    "find the base": ("ec2:DescribeImages", "*", HERE),
    "make a key pair": ("ec2:CreateKeyPair", f"{EC2}:key-pair/packer_68a0", BORN),
    "make a group": ("ec2:CreateSecurityGroup", f"{EC2}:security-group/sg-1", BORN),
    "make it in a VPC": ("ec2:CreateSecurityGroup", f"{EC2}:vpc/vpc-1", {}),
    "tag the group": (
        "ec2:CreateTags",
        f"{EC2}:security-group/sg-1",
        {"ec2:CreateAction": "CreateSecurityGroup"},
    ),
    "tag the interface": (
        "ec2:CreateTags",
        f"{EC2}:network-interface/eni-1",
        {"ec2:CreateAction": "RunInstances"},
    ),
    "launch": ("ec2:RunInstances", f"{EC2}:instance/i-1", BORN),
    "launch a disk": ("ec2:RunInstances", f"{EC2}:volume/vol-1", BORN),
    "launch from the base": ("ec2:RunInstances", f"{AMIS}:image/ami-1", {}),
    "launch in a subnet": ("ec2:RunInstances", f"{EC2}:subnet/subnet-1", {}),
    "launch with the key": ("ec2:RunInstances", f"{EC2}:key-pair/packer_68a0", {}),
    "launch a test": (
        "ec2:RunInstances",
        f"{EC2}:instance/i-2",
        {"aws:RequestTag/trainshed:role": "ami-test"},
    ),
    "give the profile": (
        "iam:PassRole",
        f"arn:aws:iam::{ACCOUNT}:role/Builder",
        {"iam:PassedToService": "ec2.amazonaws.com"},
    ),
    "reach it": (
        "ssm:StartSession",
        f"{EC2}:instance/i-1",
        {"ssm:resourceTag/trainshed:role": "ami-builder"},
    ),
    "reach it by": (
        "ssm:StartSession",
        f"arn:aws:ssm:{REGION}::document/AWS-StartPortForwardingSession",
        {},
    ),
    "open the channel": (
        "ssmmessages:OpenDataChannel",
        f"arn:aws:ssm:{REGION}:{ACCOUNT}:session/AWSCodeBuild-1-2",
        {},
    ),
    "open the channel, by user id": (
        "ssmmessages:OpenDataChannel",
        f"arn:aws:ssm:{REGION}:{ACCOUNT}:session/AROA1:AWSCodeBuild-1-2",
        {},
    ),
    "leave it": (
        "ssm:TerminateSession",
        f"arn:aws:ssm:{REGION}:{ACCOUNT}:session/AWSCodeBuild-1-2",
        {},
    ),
    "stop": ("ec2:StopInstances", f"{EC2}:instance/i-1", OURS),
    "make the image": ("ec2:CreateImage", f"{EC2}:instance/i-1", OURS),
    "make the image itself": ("ec2:CreateImage", f"{AMIS}:image/ami-2", BORN),
    "tag the snapshot as it is made": (
        "ec2:CreateTags",
        f"{AMIS}:snapshot/snap-2",
        {"ec2:CreateAction": "CreateImage"},
    ),
    "describe the image": (
        "ec2:ModifyImageAttribute",
        f"{AMIS}:image/ami-2",
        OURS | HERE | {"ec2:Attribute": "Description"},
    ),
    "tag the image": (
        "ec2:CreateTags",
        f"{AMIS}:image/ami-2",
        OURS | HERE | {"aws:TagKeys": "trainshed:build"},
    ),
    "hear the test": ("ec2:GetConsoleOutput", f"{EC2}:instance/i-1", OURS),
    "terminate": ("ec2:TerminateInstances", f"{EC2}:instance/i-1", OURS),
    "remove the key": ("ec2:DeleteKeyPair", f"{EC2}:key-pair/packer_68a0", OURS),
    "remove the group": ("ec2:DeleteSecurityGroup", f"{EC2}:security-group/sg-1", OURS),
    "publish": ("ssm:PutParameter", f"{CHANNEL}/neuron/ecs/candidate", HERE),
    "look at the history": (
        "ssm:GetParameterHistory",
        f"{CHANNEL}/nvidia/eks-1.35/candidate",
        HERE,
    ),
    "withdraw an image of a failed build": (
        "ec2:DeregisterImage",
        f"{AMIS}:image/ami-2",
        OURS,
    ),
    "read the repository": ("codeconnections:GetConnectionToken", CONNECTION, {}),
}
FORBIDDEN: dict[str, Asked] = {
    "look elsewhere": ("ec2:DescribeImages", "*", {"aws:RequestedRegion": "eu-west-1"}),
    "open a port": ("ec2:AuthorizeSecurityGroupIngress", f"{EC2}:security-group/sg-1", OURS),
    "launch without a tag": ("ec2:RunInstances", f"{EC2}:instance/i-1", {}),
    "terminate a node": ("ec2:TerminateInstances", f"{EC2}:instance/i-1", {}),
    "tag a node as ours": ("ec2:CreateTags", f"{EC2}:instance/i-1", {}),
    "reach a node": ("ssm:StartSession", f"{EC2}:instance/i-1", {}),
    "listen to another's session": (
        "ssmmessages:OpenDataChannel",
        f"arn:aws:ssm:{REGION}:{ACCOUNT}:session/admin-1-2",
        {},
    ),
    "run a command": ("ssm:SendCommand", f"{EC2}:instance/i-1", OURS),
    "publish to stable": ("ssm:PutParameter", f"{CHANNEL}/neuron/ecs/stable", HERE),
    "publish for another cell": ("ssm:PutParameter", f"{CHANNEL}/habana/ecs/candidate", HERE),
    "withdraw what is not ours": ("ec2:DeregisterImage", f"{AMIS}:image/ami-2", {}),
    "tag an image of another": (
        "ec2:CreateTags",
        f"{AMIS}:image/ami-2",
        {"aws:TagKeys": "trainshed:build"},
    ),
    "tag an image with another's tag": (
        "ec2:CreateTags",
        f"{AMIS}:image/ami-2",
        OURS | HERE | {"aws:TagKeys": "owner"},
    ),
    "make an image without the tag": ("ec2:CreateImage", f"{AMIS}:image/ami-2", {}),
    "share an image": (
        "ec2:ModifyImageAttribute",
        f"{AMIS}:image/ami-2",
        OURS | HERE | {"ec2:Attribute": "LaunchPermission"},
    ),
    "share a snapshot": ("ec2:ModifySnapshotAttribute", f"{AMIS}:snapshot/snap-2", OURS),
    "make a role": ("iam:CreateRole", f"arn:aws:iam::{ACCOUNT}:role/packer-1", {}),
    "give another role": (
        "iam:PassRole",
        f"arn:aws:iam::{ACCOUNT}:role/Admin",
        {"iam:PassedToService": "ec2.amazonaws.com"},
    ),
    "give the role to another service": (
        "iam:PassRole",
        f"arn:aws:iam::{ACCOUNT}:role/Builder",
        {"iam:PassedToService": "lambda.amazonaws.com"},
    ),
    "copy to another region": ("ec2:CopyImage", f"{AMIS}:image/ami-2", {}),
}


def holds(operator: str, wanted: Mapping[str, Any], context: Mapping[str, str]) -> bool:
    """Whether one operator of a condition holds; every key of it has to."""
    for key, values in wanted.items():
        options = values if isinstance(values, list) else [values]
        given = context.get(key)
        match operator:
            case "Null":
                matches = (given is None) == (options == ["true"])
            case "ForAllValues:StringLike":
                matches = given is None or any(fnmatchcase(given, each) for each in options)
            case "StringEquals" | "StringEqualsIgnoreCase" | "Bool":
                matches = given in options
            case _:
                raise AssertionError(operator)
        if not matches:
            return False
    return True


def plain(value: Any) -> Any:
    """Resolve what the role's policy refers to, as far as these tests need it."""
    match value:
        case {"Ref": "AWS::Region"}:
            return REGION
        case {"Ref": "AWS::AccountId"}:
            return ACCOUNT
        case {"Ref": "AWS::Partition"}:
            return "aws"
        case {"Fn::Join": [glue, parts]}:
            return glue.join(map(plain, parts))
        case {"Fn::GetAtt": [name, "Arn"]}:
            return f"arn:aws:iam::{ACCOUNT}:role/Builder" if "Builder" in name else name
        case dict():
            return {key: plain(part) for key, part in value.items()}
        case list():
            return [plain(part) for part in value]
    return value


def allowed(template: dict[str, Any], asked: Asked) -> bool:
    """Whether the role of the builds may do this."""
    [role] = [
        each["Properties"]
        for each in resources(template, "AWS::IAM::Role")
        if each["Properties"]["Description"] == "Builds of AMIs"
    ]
    action, resource, context = asked
    for statement in plain(role["Policies"][0]["PolicyDocument"]["Statement"]):
        actions, targets = (
            each if isinstance(each, list) else [each]
            for each in (statement["Action"], statement["Resource"])
        )
        if (
            any(fnmatchcase(action, each) for each in actions)
            and any(fnmatchcase(resource, each) for each in targets)
            and all(
                holds(key, part, context) for key, part in statement.get("Condition", {}).items()
            )
        ):
            return True
    return False


@pytest.mark.parametrize("asked", NEEDED.values(), ids=NEEDED)
def test_a_build_may_do_what_it_has_to(template: dict[str, Any], asked: Asked) -> None:
    assert allowed(template, asked)


@pytest.mark.parametrize("asked", FORBIDDEN.values(), ids=FORBIDDEN)
def test_a_build_may_not_do_more(template: dict[str, Any], asked: Asked) -> None:
    assert not allowed(template, asked)


def test_further_regions_are_copied_and_published_to(synthesised: Synthesised) -> None:
    template = synthesised(regions=["eu-west-1"])
    there = f"arn:aws:ssm:eu-west-1:{ACCOUNT}:parameter/trainshed/ami/neuron/ecs/candidate"

    copied = "arn:aws:ec2:eu-west-1::image/ami-3"
    assert allowed(template, ("ec2:CopyImage", copied, {"aws:RequestedRegion": "eu-west-1"}))
    assert not allowed(template, ("ec2:CopyImage", copied, {"aws:RequestedRegion": "eu-west-2"}))
    assert allowed(template, ("ssm:PutParameter", there, {"aws:RequestedRegion": "eu-west-1"}))
    assert allowed(template, ("ec2:DescribeImages", "*", {"aws:RequestedRegion": "eu-west-1"}))


def test_a_key_of_ones_own_encrypts_reports_and_is_lent_to_ec2(synthesised: Synthesised) -> None:
    template = synthesised(kms_key=KEY)
    by_ec2 = {"kms:ViaService": "ec2.us-west-2.amazonaws.com"}

    assert allowed(template, ("kms:GenerateDataKeyWithoutPlaintext", KEY, by_ec2))
    assert allowed(
        template, ("kms:CreateGrant", KEY, by_ec2 | {"kms:GrantIsForAWSResource": "true"})
    )
    assert allowed(template, ("kms:GenerateDataKey", KEY, {}))
    assert not allowed(template, ("kms:CreateGrant", KEY, by_ec2))
    assert not allowed(template, ("kms:CreateGrant", KEY, {}))


def test_a_role_that_iam_would_find_too_long_is_refused(synthesised: Synthesised) -> None:
    cells = [cell for cell in Cell if project_pins().bases_with(cell.accelerator, cell.agent)]
    regions = ["eu-west-1", "eu-north-1", "eu-central-1", "us-east-1", "us-east-2"]
    subnets = [f"subnet-{number:017x}" for number in range(30)]

    synthesised(cells=cells, regions=regions)
    with pytest.raises(ConstructError, match="take fewer cells, regions or subnets"):
        synthesised(cells=cells, regions=regions, subnets=subnets)


def test_subnets_narrow_where_it_launches(synthesised: Synthesised) -> None:
    template = synthesised(subnets=["subnet-0123456789abcdef0"])

    def launch(subnet: str) -> Asked:
        return ("ec2:RunInstances", f"{EC2}:subnet/{subnet}", {})

    assert allowed(template, launch("subnet-0123456789abcdef0"))
    assert not allowed(template, launch("subnet-0fedcba9876543210"))


def run(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # As CodeBuild runs it: bash, in the checkout.
    return subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_install_phase_stops_at_a_file_of_another_checksum(
    template: dict[str, Any], tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    log = tmp_path / "ran"
    for name in ("unzip", "packer", "dpkg", "python"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} >>"{log}"\n')
    # What a changed file looks like: something, but not what was pinned.
    (programs / "curl").write_text(
        '#!/bin/sh\nwhile [ "$1" != --output ]; do shift; done\necho other >"$2"\n'
    )
    for program in programs.iterdir():
        program.chmod(0o755)
    commands = "\n".join(buildspec(template)["phases"]["install"]["commands"])
    commands = commands.replace("/tmp/tools", str(tmp_path / "tools"))

    ended = run(commands, tmp_path, PATH=f"{programs}:{os.environ['PATH']}")

    assert ended.returncode != 0
    assert "packer.zip: FAILED" in ended.stdout
    assert not log.exists()


def test_the_users_own_tags_are_where_the_owner_is(synthesised: Synthesised) -> None:
    found = synthesised(tags={"team": "speech"})["Resources"].values()

    sets = [each["Properties"]["Tags"] for each in found if "Tags" in each.get("Properties", {})]
    tagged = [
        {tag["Key"]: tag["Value"] for tag in tags} if isinstance(tags, list) else tags
        for tags in sets
    ]

    assert len(tagged) > 5
    for tags in tagged:
        assert tags.get("team") == ("speech" if "owner" in tags else None)
