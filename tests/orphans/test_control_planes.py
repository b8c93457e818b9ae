"""A control plane of Amazon EKS that is left."""

import json
from collections.abc import Iterator
from typing import Any

import job_bench
import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.job_settings import JobSettings


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS where a control plane takes a fraction of a second."""
    folder = tmp_path_factory.mktemp("aws")
    with job_bench.job_aws(folder, JobSettings(speed=3000)) as found:
        yield found


@pytest.fixture
def clean_aws(server: EmbeddedAws) -> EmbeddedAws:
    server.reset()
    return server


def test_an_existing_repository_hides_no_control_plane_of_its_name(project: Any) -> None:
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "eks.amazonaws.com"},
        "Action": "sts:AssumeRole",
    }
    role = project.aws.client("iam").create_role(
        RoleName="ControlPlane",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )
    ec2 = project.aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.1.{number}.0/24", AvailabilityZone=zone)
        for number, zone in enumerate(("us-west-2a", "us-west-2b"))
    ]
    project.aws.client("eks").create_cluster(
        name="train",
        roleArn=role["Role"]["Arn"],
        resourcesVpcConfig={"subnetIds": [each["Subnet"]["SubnetId"] for each in subnets]},
        tags={"trainshed:cluster": "TrainCluster"},
    )
    project.describe("image: {existing: true}\n")

    [found] = project.orphans()["waste"]

    assert (found["what"], found["name"]) == ("EKS cluster", "train")


def test_a_control_plane_that_no_cluster_uses(project: Any) -> None:
    iam = project.aws.client("iam")
    iam.create_role(RoleName="Operator", AssumeRolePolicyDocument="{}")
    project.describe(
        "orchestrator: eks\nkubernetes: {access: [{role: Operator, policy: cluster-admin}]}\n"
    )
    project.deploy("TrainNetwork", "TrainControlPlane")

    found = project.orphans()["waste"]

    assert [each["name"] for each in found] == ["TrainControlPlane", "TrainNetwork"]
    assert found[0]["size"].startswith("1 EKS cluster")
    for each in found:
        project.run(each["command"])
    left = project.orphans()
    assert left["waste"] == []
    assert {each["what"] for each in left["kept"]} == {"key", "log group"}
