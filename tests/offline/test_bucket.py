"""A cluster with a bucket of its own, from its first deployment to the use of what was kept."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from protected_stacks import there
from role_client import role_client

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.embedded import EmbeddedAws

CLUSTER = """
name: TrainCluster
region: us-west-2
instance: {type: trn1.32xlarge, nodes: {max: 4}}
orchestrator: %s
storage: {bucket: {%s}}
"""
LIFECYCLE = (
    "{prefix: runs/, infrequent_access_days: 30, glacier_days: 90, deep_archive_days: 180, "
    "expire_days: 900}"
)
KIB = 1024

Deploy = Callable[..., None]


@pytest.fixture
def deploy(deploy_cluster: Callable[..., None]) -> Deploy:
    """Deploy stacks of the cluster, with some fields of `storage.bucket`."""

    def run(fields: str, *more: str, orchestrator: str = "batch") -> None:
        deploy_cluster(CLUSTER % (orchestrator, fields), "TrainBucket", *more)

    return run


def named(aws: EmbeddedAws) -> str:
    """Return the name of the bucket, as nodes read it."""
    parameter = aws.client("ssm").get_parameter(Name="/trainshed/bucket/train/bucket-name")
    return str(parameter["Parameter"]["Value"])


def test_a_bucket_is_private_versioned_and_cleaned_up(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(f"lifecycle: [{LIFECYCLE}]")

    s3, name = clean_aws.client("s3"), named(clean_aws)
    account = clean_aws.client("sts").get_caller_identity()["Account"]
    assert name == f"trainshed-train-{account}-us-west-2"
    public = s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
    assert set(public.values()) == {True}
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    owners = s3.get_bucket_ownership_controls(Bucket=name)["OwnershipControls"]["Rules"]
    assert owners == [{"ObjectOwnership": "BucketOwnerEnforced"}]
    [statement] = json.loads(s3.get_bucket_policy(Bucket=name)["Policy"])["Statement"]
    assert (statement["Effect"], statement["Condition"]) == (
        "Deny",
        {"Bool": {"aws:SecureTransport": "false"}},
    )
    clean_up, of_runs = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert clean_up["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}
    assert clean_up["NoncurrentVersionExpiration"]["NoncurrentDays"] == 90
    assert of_runs["Filter"]["Prefix"] == "runs/"
    assert [(each["StorageClass"], each["Days"]) for each in of_runs["Transitions"]] == [
        ("STANDARD_IA", 30),
        ("GLACIER", 90),
        ("DEEP_ARCHIVE", 180),
    ]


def test_objects_are_in_glacier_after_90_days_and_readable_beside_the_prefix(
    clean_aws: EmbeddedAws, deploy: Deploy
) -> None:
    deploy(f"lifecycle: [{LIFECYCLE}]")
    s3, name = clean_aws.client("s3"), named(clean_aws)
    for key in ("runs/1", "data/1"):
        s3.put_object(Bucket=name, Key=key, Body=bytes(200 * KIB))

    clean_aws.let_pass(days=91)

    classes = {
        each["Key"]: each["StorageClass"] for each in s3.list_objects_v2(Bucket=name)["Contents"]
    }
    assert classes == {"runs/1": "GLACIER", "data/1": "STANDARD"}
    with pytest.raises(ClientError, match="InvalidObjectState"):
        s3.get_object(Bucket=name, Key="runs/1")
    assert s3.get_object(Bucket=name, Key="data/1")["ContentLength"] == 200 * KIB


def test_a_change_of_the_lifecycle_keeps_the_bucket(clean_aws: EmbeddedAws, deploy: Deploy) -> None:
    deploy(f"lifecycle: [{LIFECYCLE}]")
    s3, name = clean_aws.client("s3"), named(clean_aws)
    s3.put_object(Bucket=name, Key="runs/1", Body=b"weights")

    deploy("lifecycle: [{prefix: runs/, glacier_instant_retrieval_days: 7}]")

    assert named(clean_aws) == name
    assert s3.get_object(Bucket=name, Key="runs/1")["Body"].read() == b"weights"
    rules = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert rules[-1]["Transitions"] == [{"Days": 7, "StorageClass": "GLACIER_IR"}]


def test_a_bucket_is_kept_and_used_again(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: Callable[[], str]
) -> None:
    deploy("")
    s3, name = clean_aws.client("s3"), named(clean_aws)
    s3.put_object(Bucket=name, Key="runs/1", Body=bytes(200 * KIB))

    said = tear_down()

    assert there(clean_aws) == set()
    assert f"{name} 1 object," in said
    assert f"storage.bucket.existing: {name}" in said
    assert "aws:SecureTransport" in s3.get_bucket_policy(Bucket=name)["Policy"]
    with pytest.raises(DeploymentFailed, match="already"):
        deploy("")
    tear_down()

    deploy(f"existing: {name}, mount: /data")
    assert named(clean_aws) == name
    tear_down()
    assert s3.get_object(Bucket=name, Key="runs/1")["ContentLength"] == 200 * KIB


def test_a_bucket_that_another_cluster_uses_stays_with_its_stack(
    clean_aws: EmbeddedAws, deploy: Deploy, tear_down: Callable[[], str], tmp_path: Path
) -> None:
    deploy("")
    other = CLUSTER.replace("TrainCluster", "OtherCluster") % ("batch", "name: train, mount: /data")
    (tmp_path / "clusters" / "other.yaml").write_text(other)
    clean_aws.deploy(
        {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}, stack_name="OtherCluster"
    )

    said = tear_down()

    assert there(clean_aws) == {"TrainBucket", "OtherCluster"}
    assert "used by OtherCluster" in said


def roles_of(aws: EmbeddedAws, stack: str) -> dict[str, str]:
    """Return the ARNs of the roles of a stack, by logical id."""
    resources = aws.client("cloudformation").describe_stack_resources(StackName=stack)
    iam = aws.client("iam")
    return {
        each["LogicalResourceId"]: iam.get_role(RoleName=each["PhysicalResourceId"])["Role"]["Arn"]
        for each in resources["StackResources"]
        if each["ResourceType"] == "AWS::IAM::Role"
    }


def variables(aws: EmbeddedAws, stack: str) -> dict[str, str]:
    """Return the variables that all jobs of a cluster get."""
    described = aws.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in described["Outputs"]}
    if document := outputs.get("JobDocument"):
        content = aws.client("ssm").get_document(Name=document)["Content"]
        [given] = re.findall("--environment ([A-Za-z0-9+/=]+)", content)
        found: dict[str, str] = json.loads(base64.b64decode(given))
        return found
    [definition] = aws.client("batch").describe_job_definitions(
        jobDefinitions=[outputs["JobDefinition"]]
    )["jobDefinitions"]
    [nodes] = definition["nodeProperties"]["nodeRangeProperties"]
    return {each["name"]: each["value"] for each in nodes["container"]["environment"]}


@pytest.mark.parametrize(
    ("orchestrator", "cell", "stacks", "jobs", "nodes"),
    [
        (
            "batch",
            "neuron/ecs",
            ("TrainNetwork", "TrainContainers", "TrainCluster"),
            "JobRole",
            "NodeRole",
        ),
        ("ec2", "neuron/ec2", ("TrainNetwork", "TrainCluster"), "NodeRole", "NodeRole"),
    ],
)
def test_jobs_know_and_write_the_bucket_and_nodes_read_what_they_mount(
    clean_aws: EmbeddedAws,
    deploy: Deploy,
    publish_ami: Callable[..., str],
    orchestrator: str,
    cell: str,
    stacks: tuple[str, ...],
    jobs: str,
    nodes: str,
) -> None:
    publish_ami(clean_aws, cell)
    deploy("mount: /data, mount_prefix: datasets/", *stacks, orchestrator=orchestrator)

    name, roles = named(clean_aws), roles_of(clean_aws, "TrainCluster")
    of_jobs, of_nodes = (
        role_client(clean_aws, "s3", next(arn for each, arn in roles.items() if part in each))
        for part in (jobs, nodes)
    )
    of_jobs.put_object(Bucket=name, Key="datasets/1", Body=b"text")
    of_jobs.get_object(Bucket=name, Key="datasets/1")
    of_nodes.list_objects_v2(Bucket=name, Prefix="datasets/")
    of_nodes.get_object(Bucket=name, Key="datasets/1")
    refused: list[Callable[[], Any]] = [
        lambda: of_jobs.delete_object(Bucket=name, Key="datasets/1")
    ]
    if jobs != nodes:
        refused += [
            lambda: of_nodes.put_object(Bucket=name, Key="datasets/2", Body=b"text"),
            lambda: of_nodes.get_object(Bucket=name, Key="runs/1"),
        ]
    for call in refused:
        with pytest.raises(ClientError, match="no identity-based policy allows"):
            call()
    assert variables(clean_aws, "TrainCluster")["TRAINSHED_BUCKET"] == name
    prefix = clean_aws.client("ssm").get_parameter(Name="/trainshed/bucket/train/prefix")
    assert prefix["Parameter"]["Value"] == "datasets/"
