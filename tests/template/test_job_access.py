"""What the containers of a job may do, in the template of a whole cluster."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec

Synthesise = Callable[[Fleet], Path]
POLICIES = ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess", "arn:aws:iam::123456789012:policy/k"]


def cluster(**job: Any) -> Fleet:
    fields = {
        "name": "TinyCluster",
        "region": "us-west-2",
        "instance": {"type": "trn1.32xlarge"},
        "job": job,
    }
    return plan_fleet([ClusterSpec.model_validate(fields)])


def container_role(assembly: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The job definition's role, and the statements that it has."""
    template = json.loads((assembly / "TinyCluster.template.json").read_text())["Resources"]
    [job] = [each for each in template.values() if each["Type"] == "AWS::Batch::JobDefinition"]
    [nodes] = job["Properties"]["NodeProperties"]["NodeRangeProperties"]
    name = nodes["Container"]["JobRoleArn"]["Fn::GetAtt"][0]
    statements = [
        statement
        for each in template.values()
        if each["Type"] == "AWS::IAM::Policy" and {"Ref": name} in each["Properties"]["Roles"]
        for statement in each["Properties"]["PolicyDocument"]["Statement"]
    ]
    return template[name]["Properties"], statements


def s3(path: str) -> dict[str, Any]:
    return {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":s3:::{path}"]]}


@pytest.mark.parametrize(
    ("access", "actions"),
    [
        pytest.param("read", "s3:GetObject", id="read"),
        pytest.param(
            "read-write",
            ["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"],
            id="read-write",
        ),
        pytest.param(
            "read-write-delete",
            ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            id="read-write-delete",
        ),
    ],
)
def test_jobs_reach_a_bucket_under_its_prefix_and_nothing_else(
    synthesise: Synthesise, access: str, actions: str | list[str]
) -> None:
    grants = [{"bucket": "my-runs", "prefix": "llama/", "access": access}]

    _, statements = container_role(synthesise(cluster(buckets=grants)))

    listing, objects = statements
    assert listing == {
        "Effect": "Allow",
        "Action": "s3:ListBucket",
        "Resource": s3("my-runs"),
        "Condition": {"StringLike": {"s3:prefix": "llama/*"}},
    }
    assert objects == {
        "Effect": "Allow",
        "Action": actions,
        "Resource": s3("my-runs/llama/*"),
    }


def test_a_bucket_without_a_prefix_is_listed_whole(synthesise: Synthesise) -> None:
    _, (listing, objects) = container_role(synthesise(cluster(buckets=[{"bucket": "my-runs"}])))

    assert "Condition" not in listing
    assert objects["Resource"] == s3("my-runs/*")


def test_cdk_nag_takes_what_the_file_asks_for(synthesise: Synthesise) -> None:
    grants = [{"bucket": "my-runs"}, {"bucket": "out", "prefix": "a/b/", "access": "read-write"}]

    assembly = synthesise(cluster(buckets=grants, policies=POLICIES))

    role, _ = container_role(assembly)
    report = json.loads((assembly / "validation-report.json").read_text())
    assert role["ManagedPolicyArns"] == POLICIES
    assert not [each["violations"] for each in report["pluginReports"] if each["violations"]]


def test_a_job_without_either_may_do_nothing_but_see_the_network(synthesise: Synthesise) -> None:
    role, statements = container_role(synthesise(cluster()))

    assert not statements
    assert [policy["PolicyName"] for policy in role["Policies"]] == ["Launch"]
    assert "ManagedPolicyArns" not in role
