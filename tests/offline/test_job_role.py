"""A job has the permissions and limits that its cluster's file gives it."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from role_client import role_client

from embedded_aws.deployment import Deployment
from embedded_aws.embedded import EmbeddedAws
from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec

OBJECT = {"Bucket": "my-runs", "Key": "a/model"}


@pytest.fixture
def cluster(
    clean_aws: EmbeddedAws, synthesise: Callable[[Fleet], Path], publish_ami: Callable[..., str]
) -> Deployment:
    """A cluster whose jobs may read and write under a/ of a bucket, and read all of another."""
    publish_ami(clean_aws)
    for bucket in ("my-runs", "corpus"):
        clean_aws.client("s3").create_bucket(
            Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
        )
        clean_aws.client("s3").put_object(Bucket=bucket, Key="text", Body=b"text")
    buckets = [
        {"bucket": "my-runs", "prefix": "a/", "access": "read-write"},
        {"bucket": "corpus", "access": "read"},
    ]
    spec = ClusterSpec.model_validate(
        {
            "name": "TrainCluster",
            "region": "us-west-2",
            "instance": {"type": "trn1.32xlarge", "nodes": {"max": 2}},
            "job": {"buckets": buckets, "capacity_wait_hours": 3},
        }
    )
    assembly = synthesise(plan_fleet([spec]))
    stacks = [
        clean_aws.deploy(
            json.loads((assembly / f"{name}.template.json").read_text()), stack_name=name
        )
        for name in ("TrainNetwork", "TrainContainers", "TrainCluster")
    ]
    return stacks[-1]


@pytest.fixture
def container(clean_aws: EmbeddedAws, cluster: Deployment) -> Mapping[str, Any]:
    """The container of the cluster's job definition."""
    [definition] = clean_aws.client("batch").describe_job_definitions(
        jobDefinitions=[cluster.outputs["JobDefinition"]]
    )["jobDefinitions"]
    [nodes] = definition["nodeProperties"]["nodeRangeProperties"]
    found: Mapping[str, Any] = nodes["container"]
    return found


@pytest.fixture
def as_role(clean_aws: EmbeddedAws) -> Callable[[str, str], Any]:
    """Return a client of a service with the credentials of a role."""
    return partial(role_client, clean_aws)


def used_and_denied(aws: EmbeddedAws, role: str) -> tuple[set[str], set[str], set[str]]:
    """Return the actions of a role that were used, that never were, and that were denied."""
    rows = aws.roles(role.rpartition("/")[2])
    return (
        {row.action for row in rows if row.used},
        {row.grant for row in rows if not (row.used or row.denied)},
        {row.action for row in rows if row.denied},
    )


def test_a_job_reads_and_writes_its_data_and_deletes_nothing(
    clean_aws: EmbeddedAws, container: Mapping[str, Any], as_role: Callable[[str, str], Any]
) -> None:
    role = container["jobRoleArn"]
    s3 = as_role("s3", role)
    upload = s3.create_multipart_upload(**OBJECT)["UploadId"]

    s3.abort_multipart_upload(**OBJECT, UploadId=upload)
    s3.put_object(**OBJECT, Body=b"weights")
    s3.get_object(**OBJECT)
    s3.list_objects_v2(Bucket="my-runs", Prefix="a/")
    s3.get_object(Bucket="corpus", Key="text")
    as_role("ec2", role).describe_instance_topology()
    refusals: list[Callable[[], Any]] = [
        lambda: s3.delete_object(**OBJECT),
        lambda: s3.get_object(Bucket="my-runs", Key="text"),
        lambda: s3.list_objects_v2(Bucket="my-runs"),
        lambda: s3.put_object(Bucket="corpus", Key="text", Body=b"other"),
        lambda: as_role("ec2", role).describe_instances(),
    ]
    for refused in refusals:
        with pytest.raises(ClientError, match="no identity-based policy allows"):
            refused()

    assert used_and_denied(clean_aws, role) == (
        {
            "ec2:DescribeInstanceTopology",
            "s3:AbortMultipartUpload",
            "s3:GetObject",
            "s3:ListBucket",
            "s3:PutObject",
        },
        set(),
        {
            "ec2:DescribeInstances",
            "s3:DeleteObject",
            "s3:GetObject",
            "s3:ListBucket",
            "s3:PutObject",
        },
    )


def test_a_job_waits_for_capacity_as_long_as_the_file_says(
    clean_aws: EmbeddedAws, cluster: Deployment
) -> None:
    [queue] = clean_aws.client("batch").describe_job_queues(
        jobQueues=[cluster.outputs["JobQueue"]]
    )["jobQueues"]

    limits = {each["reason"]: each["maxTimeSeconds"] for each in queue["jobStateTimeLimitActions"]}
    assert limits["CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"] == 3 * 3600


def test_a_node_pulls_its_image_and_writes_its_logs(
    clean_aws: EmbeddedAws,
    cluster: Deployment,
    container: Mapping[str, Any],
    as_role: Callable[[str, str], Any],
) -> None:
    role = next(
        each["Arn"]
        for each in clean_aws.client("iam").list_roles()["Roles"]
        if each.get("Description") == "Nodes of a training cluster"
    )
    ecr, logs = as_role("ecr", role), as_role("logs", role)
    repository = container["image"].partition("/")[2].partition(":")[0]
    group = container["logConfiguration"]["options"]["awslogs-group"]

    # It is allowed to log in, but this embedded AWS has no registry.
    with pytest.raises(ClientError, match="stores no images"):
        ecr.get_authorization_token()
    ecr.batch_get_image(repositoryName=repository, imageIds=[{"imageTag": "any"}])
    logs.create_log_stream(logGroupName=group, logStreamName="node")
    logs.put_log_events(
        logGroupName=group, logStreamName="node", logEvents=[{"timestamp": 1, "message": "x"}]
    )
    ecs = as_role("ecs", role)
    refusals: list[Callable[[], Any]] = [
        lambda: ecs.register_container_instance(cluster="another"),
        lambda: ecr.delete_repository(repositoryName=repository),
        lambda: ecr.batch_get_image(repositoryName="another", imageIds=[{"imageTag": "any"}]),
        lambda: logs.create_log_stream(logGroupName="/another", logStreamName="node"),
    ]
    for refused in refusals:
        with pytest.raises(ClientError, match="no identity-based policy allows"):
            refused()
