"""What `trainshed lint` calls an error of a node group, the embedded EKS refuses, and only that.

The two were written apart from EKS's documents.
"""

import json
from collections.abc import Iterator
from typing import Any

import job_bench
import pytest
from amis import AMAZON_LINUX
from eks_bench import EksBench

from embedded_aws.deployment import DeploymentFailed
from embedded_aws.job_settings import JobSettings
from trainshed.findings import Severity
from trainshed.lint.judging import lint_documents
from trainshed.lint.readers import read_documents
from trainshed.lint.reading import parse_content

pytestmark = pytest.mark.server

BLOCK = {
    "InstanceMarketOptions": {"MarketType": "capacity-block"},
    "CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
    },
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EksBench]:
    """An embedded AWS, where a control plane takes a fraction of a second."""
    with job_bench.job_aws(tmp_path_factory.mktemp("aws"), JobSettings(speed=3000)) as aws:
        yield EksBench(aws)


@pytest.fixture(scope="module")
def node_role(bench: EksBench) -> str:
    """The role of the nodes; it makes the cluster, too."""
    bench.create_cluster()
    policies = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
    return bench.role("ec2.amazonaws.com", *(f"arn:aws:iam::aws:policy/{p}" for p in policies))


def errors(template: dict[str, Any]) -> set[str]:
    """Return the rules that find an error."""
    documents = read_documents(parse_content(json.dumps(template), "template.json"))
    return {each.rule for each in lint_documents(documents) if each.severity is Severity.ERROR}


@pytest.mark.parametrize(
    ("data", "properties", "rule", "words"),
    [
        pytest.param({}, {}, None, None, id="good"),
        pytest.param(
            {"InstanceType": None}, {"InstanceTypes": ["p5.48xlarge"]}, None, None, id="type"
        ),
        pytest.param(
            {"IamInstanceProfile": {"Name": "nodes"}},
            {},
            "TS-EKS-031",
            "should not specify an instance profile",
            id="instance-profile",
        ),
        pytest.param(
            {"InstanceMarketOptions": {"MarketType": "spot"}},
            {},
            "TS-EKS-031",
            "should not request Spot",
            id="spot",
        ),
        pytest.param(
            {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "SUBNET"}]},
            {},
            "TS-EKS-031",
            "should not specify a subnet",
            id="subnet",
        ),
        pytest.param(
            {"InstanceInitiatedShutdownBehavior": "terminate"},
            {},
            "TS-EKS-031",
            "should not specify a shutdown behavior",
            id="shutdown",
        ),
        pytest.param(
            {},
            {"InstanceTypes": ["p5.48xlarge"]},
            "TS-EKS-031",
            "Instance type cannot be specified in both",
            id="type-twice",
        ),
        pytest.param(
            {}, {"DiskSize": 100}, "TS-EKS-031", "Disk size must be specified within", id="disk"
        ),
        pytest.param(
            {"ImageId": AMAZON_LINUX},
            {},
            "TS-EKS-032",
            "cannot specify an AMI Type",
            id="own-ami-with-type",
        ),
        pytest.param(
            {"ImageId": AMAZON_LINUX},
            {"AmiType": None},
            "TS-EKS-032",
            "failed to join",
            id="own-ami-without-data",
        ),
        pytest.param(
            BLOCK, {}, "TS-EKS-038", "needs capacityType CAPACITY_BLOCK", id="block-of-the-template"
        ),
        pytest.param(
            {},
            {"CapacityType": "CAPACITY_BLOCK"},
            "TS-EKS-038",
            "must specify InstanceMarketOptions",
            id="block-of-the-group",
        ),
        pytest.param(
            {**BLOCK, "InstanceType": None},
            {"CapacityType": "CAPACITY_BLOCK", "InstanceTypes": ["p5.48xlarge"]},
            "TS-EKS-038",
            "must specify InstanceType",
            id="block-without-type",
        ),
        pytest.param(
            {"SecurityGroupIds": [{"Fn::GetAtt": ["Own", "GroupId"]}]},
            {},
            "TS-EKS-035",
            "do not have the cluster security group",
            id="own-security-group",
        ),
    ],
)
def test_what_lint_calls_an_error_is_refused(
    bench: EksBench,
    node_role: str,
    request: pytest.FixtureRequest,
    data: dict[str, Any],
    properties: dict[str, Any],
    rule: str | None,
    words: str | None,
) -> None:
    nodes = {
        "ClusterName": bench.name,
        "NodeRole": node_role,
        "Subnets": bench.subnets[:1],
        "AmiType": "AL2023_x86_64_NVIDIA",
        "ScalingConfig": {"MinSize": 1, "DesiredSize": 1, "MaxSize": 1},
        "LaunchTemplate": {
            "Id": {"Ref": "Template"},
            "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
        },
        **properties,
    }
    launch = json.loads(
        json.dumps({"InstanceType": "p5.48xlarge", **data}).replace("SUBNET", bench.subnets[0])
    )
    own = {"GroupDescription": "nodes", "VpcId": bench.vpc}
    template = {
        "Resources": {
            "Own": {"Type": "AWS::EC2::SecurityGroup", "Properties": own},
            "Template": {
                "Type": "AWS::EC2::LaunchTemplate",
                "Properties": {"LaunchTemplateData": _given(launch)},
            },
            "Nodes": {"Type": "AWS::EKS::Nodegroup", "Properties": _given(nodes)},
        }
    }
    name = f"nodes-{request.node.callspec.id}"

    found = errors(template)

    assert found == ({rule} if rule else set())
    if words:
        with pytest.raises(DeploymentFailed, match=words):
            bench.aws.deploy(template, stack_name=name)
    else:
        bench.aws.deploy(template, stack_name=name)


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
