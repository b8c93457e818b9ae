"""An AMI pipeline on an AWS: deployed, changed, rolled back, deleted; and what its builds run."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from skips import needs

from embedded_aws.deployment import Deployment, DeploymentFailed
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan.pipeline import load_ami_pipeline
from trainshed_stacks.ami_pipeline_stack import add_ami_pipeline

ROOT = Path(__file__).parents[2]
BASE = {
    "region": "us-west-2",
    "repository": "https://github.com/example/trainshed",
    "connection": "arn:aws:codeconnections:us-west-2:123456789012:connection/"
    "0a1b2c3d-4e5f-6789-abcd-ef0123456789",
    "cells": ["neuron/ecs", "nvidia/eks-1.35"],
    "schedule": "cron(0 3 ? * SUN *)",
    "on_commit": True,
    "notify": ["ml-platform@example.com"],
}
NAME = "AmiPipeline"

Deploy = Callable[..., Deployment]


@pytest.fixture
def synthesised(
    context: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., dict[str, Any]]:
    def run(**changes: Any) -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("pipeline")
        (folder / "p.yaml").write_text(json.dumps({**BASE, **changes}))
        app = cdk.App(context=context, outdir=str(folder / "out"))
        plan = load_ami_pipeline(folder / "p.yaml", pins=ROOT / "packer/pins.json")
        add_ami_pipeline(app, plan)
        app.synth()
        found: dict[str, Any] = json.loads((folder / f"out/{NAME}.template.json").read_text())
        return found

    return run


@pytest.fixture
def deploy(clean_aws: EmbeddedAws, synthesised: Callable[..., dict[str, Any]]) -> Deploy:
    return lambda **changes: clean_aws.deploy(synthesised(**changes), stack_name=NAME)


def project(aws: EmbeddedAws, stack: Deployment) -> dict[str, Any]:
    name = stack.outputs["NeuronEcsProject"]
    [found] = aws.client("codebuild").batch_get_projects(names=[name])["projects"]
    return dict(found)


def schedules(aws: EmbeddedAws) -> dict[str, str]:
    """The expression of each schedule, by the project that it starts."""
    events = aws.client("events")
    return {
        events.list_targets_by_rule(Rule=rule["Name"])["Targets"][0]["Arn"].rpartition("/")[
            2
        ]: rule["ScheduleExpression"]
        for rule in events.list_rules()["Rules"]
        if "ScheduleExpression" in rule
    }


def test_a_pipeline_is_there_once_deployed(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    stack = deploy()

    found = project(clean_aws, stack)
    projects = [stack.outputs[f"{cell}Project"] for cell in ("NeuronEcs", "NvidiaEks135")]
    assert found["webhook"]["status"] == "ACTIVE"
    assert found["artifacts"]["location"] == stack.outputs["Reports"]
    assert schedules(clean_aws) == dict.fromkeys(projects, "cron(0 3 ? * SUN *)")
    assert clean_aws.client("codebuild").start_build(projectName=projects[0])["build"]["id"]
    reply = clean_aws.client("sns").list_subscriptions_by_topic(TopicArn=stack.outputs["Topic"])
    assert [each["Endpoint"] for each in reply["Subscriptions"]] == ["ml-platform@example.com"]


def test_a_changed_pipeline_is_updated_in_place(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    before = project(clean_aws, deploy())

    after = deploy(on_commit=False, schedule="rate(14 days)", timeout_minutes=240, notify=[])

    found = project(clean_aws, after)
    assert found["arn"] == before["arn"]
    assert "webhook" not in found
    assert found["timeoutInMinutes"] == 240 + 90
    assert set(schedules(clean_aws).values()) == {"rate(14 days)"}
    reply = clean_aws.client("sns").list_subscriptions_by_topic(TopicArn=after.outputs["Topic"])
    assert not reply["Subscriptions"]


def test_a_refused_change_is_rolled_back(
    clean_aws: EmbeddedAws, deploy: Deploy, synthesised: Callable[..., dict[str, Any]]
) -> None:
    before = project(clean_aws, deploy())
    template = synthesised(timeout_minutes=240, on_commit=False)
    # What the form of the spec would not let through, and CodeBuild does not take.
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::CodeBuild::Project":
            resource["Properties"]["Source"]["Auth"]["Resource"] = "arn:aws:codeconnections:x"

    with pytest.raises(DeploymentFailed, match="Invalid connection ARN"):
        clean_aws.deploy(template, stack_name=NAME)

    [after] = clean_aws.client("codebuild").batch_get_projects(names=[before["name"]])["projects"]
    assert after["timeoutInMinutes"] == before["timeoutInMinutes"]
    assert after["webhook"]["filterGroups"] == before["webhook"]["filterGroups"]


def test_reports_and_their_key_outlive_a_deleted_pipeline(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    stack = deploy()
    bucket, topic = stack.outputs["Reports"], stack.outputs["Topic"]

    clean_aws.client("cloudformation").delete_stack(StackName=NAME)

    assert not clean_aws.client("codebuild").list_projects()["projects"]
    assert not schedules(clean_aws)
    topics = clean_aws.client("sns").list_topics()["Topics"]
    assert topic not in [each["TopicArn"] for each in topics]
    assert bucket in [each["Name"] for each in clean_aws.client("s3").list_buckets()["Buckets"]]
    [rule] = clean_aws.client("s3").get_bucket_encryption(Bucket=bucket)[
        "ServerSideEncryptionConfiguration"
    ]["Rules"]
    key = rule["ApplyServerSideEncryptionByDefault"]["KMSMasterKeyID"]
    assert clean_aws.client("kms").describe_key(KeyId=key)["KeyMetadata"]["Enabled"]


@needs("packer")
def test_a_build_asks_packer_for_what_was_asked(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    ec2 = clean_aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/20")["Subnet"]["SubnetId"]
    found = project(clean_aws, deploy(regions=["eu-west-1", "eu-north-1"], subnets=[subnet]))
    spec = json.loads(found["source"]["buildspec"])
    variables = {
        each["name"]: each["value"] for each in found["environment"]["environmentVariables"]
    }
    build, publish = spec["phases"]["build"]["commands"]

    # As CodeBuild runs it: bash, in the checkout.
    reply = subprocess.run(
        ["bash", "-e", "-c", f"{build} --dry-run"],
        cwd=ROOT,
        env={**os.environ, **clean_aws.environment, **spec["env"]["variables"], **variables},
        capture_output=True,
        text=True,
        check=False,
    )

    assert reply.returncode == 0, reply.stderr
    assert f"-var=iam_instance_profile={variables['INSTANCE_PROFILE']}" in reply.stdout
    assert """'-var=ami_regions=["eu-west-1", "eu-north-1"]'""" in reply.stdout
    assert "-var=accelerator=neuron -var=orchestrator=ecs" in reply.stdout
    assert f"-var=subnet_id={subnet}" in reply.stdout
    assert "ami publish build/ami/manifest.json --channel candidate --test" in publish
