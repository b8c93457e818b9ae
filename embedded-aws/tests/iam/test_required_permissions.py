"""Which permissions calls need."""

from typing import Any

import pytest
from moto.core.utils import get_service_model

from embedded_aws.iam import required_permissions as required_permissions_module
from embedded_aws.iam.api_calls import ApiCall
from embedded_aws.iam.required_permissions import required_permissions

EC2 = "arn:aws:ec2:us-west-2:123456789012"
BATCH = "arn:aws:batch:us-west-2:123456789012"
EFS = "arn:aws:elasticfilesystem:us-west-2:123456789012"

NOT_IN_THE_REFERENCE = {
    "batch": {"TerminateServiceJobs"},
    "ecr": {
        "DescribeReplicationBackfillResults",
        "ListImageReferrers",
        "ListReplicationBackfills",
        "StartReplicationBackfill",
        "StopReplicationBackfill",
    },
    "kms": {"Decapsulate", "Encapsulate"},
    "lambda": {"DeleteDurableExecution", "PauseDurableExecution", "ResumeDurableExecution"},
    "logs": {"GetLogObject"},
    # Directory buckets, Object Lambda, metadata tables, and calls that browsers make.
    "s3": {
        "BucketCORSPreflightCheck",
        "CreateBucketMetadataConfiguration",
        "CreateSession",
        "DeleteBucketMetadataConfiguration",
        "GetBucketMetadataConfiguration",
        "ListDirectoryBuckets",
        "ObjectCORSPreflightCheck",
        "PostObject",
        "RenameObject",
        "WriteGetObjectResponse",
    },
    "ssm": {
        "DeregisterDefaultHostManagementConfiguration",
        "RegisterDefaultHostManagementConfiguration",
    },
}


def needed(service: str, operation: str, **params: Any) -> list[tuple[str, tuple[str, ...]]]:
    call = ApiCall(
        service=service,
        operation=operation,
        account="123456789012",
        region="us-west-2",
        protocol="json",
        params=params,
    )
    return [(each.action, each.resources) for each in required_permissions(call)]


@pytest.mark.parametrize(
    "service", ["batch", "ecr", "kms", "lambda", "logs", "s3", "sns", "sqs", "ssm", "sts"]
)
def test_operations_need_actions_that_exist(service: str) -> None:
    known = required_permissions_module._reference(service, "Actions")

    unknown = {
        operation
        for operation in get_service_model(service).operation_names
        for action, _ in needed(service, operation, Delete={"Objects": []})
        if action.partition(":")[2].lower() not in known
    }

    # What the reference does not have yet has to be allowed by its own name, on every resource.
    assert unknown == NOT_IN_THE_REFERENCE.get(service, set())


@pytest.mark.parametrize(
    ("service", "operation", "params", "expected"),
    [
        pytest.param(
            "batch",
            "SubmitJob",
            {"jobName": "x", "jobQueue": f"{BATCH}:job-queue/q", "jobDefinition": "d"},
            [
                ("batch:SubmitJob", (f"{BATCH}:job-definition/d",)),
                ("batch:SubmitJob", (f"{BATCH}:job-queue/q",)),
            ],
            id="names and ARNs",
        ),
        pytest.param(
            "ec2",
            "RunInstances",
            {
                "ImageId": "ami-1",
                "NetworkInterfaces": [{"SubnetId": "subnet-1", "Groups": ["sg-1"]}],
                "TagSpecifications": [{"ResourceType": "volume", "Tags": []}],
            },
            [
                ("ec2:RunInstances", (f"{EC2}:instance/*",)),
                ("ec2:RunInstances", (f"{EC2}:network-interface/*",)),
                ("ec2:RunInstances", (f"{EC2}:security-group/sg-1",)),
                ("ec2:RunInstances", (f"{EC2}:subnet/subnet-1",)),
                ("ec2:RunInstances", (f"{EC2}:volume/*",)),
                ("ec2:RunInstances", ("arn:aws:ec2:us-west-2::image/ami-1",)),
                ("ec2:CreateTags", (f"{EC2}:volume/*",)),
            ],
            id="a launch",
        ),
        pytest.param(
            "elasticfilesystem",
            "CreateMountTarget",
            {"FileSystemId": "fs-1", "SubnetId": "subnet-1"},
            [("elasticfilesystem:CreateMountTarget", (f"{EFS}:file-system/fs-1",))],
            id="a mount target",
        ),
        pytest.param(
            "elasticfilesystem",
            "TagResource",
            {"ResourceId": "fsap-1", "Tags": []},
            [("elasticfilesystem:TagResource", (f"{EFS}:access-point/fsap-1",))],
            id="one of two types of resource",
        ),
        pytest.param(
            "ec2",
            "CreateImage",
            {"InstanceId": "i-1", "Name": "x"},
            [
                ("ec2:CreateImage", (f"{EC2}:instance/i-1",)),
                ("ec2:CreateImage", ("arn:aws:ec2:us-west-2::image/*",)),
                ("ec2:CreateImage", ("arn:aws:ec2:us-west-2::snapshot/*",)),
            ],
            id="an AMI and its snapshots",
        ),
        pytest.param(
            "ec2",
            "AuthorizeSecurityGroupIngress",
            {
                "GroupId": "sg-1",
                "IpPermissions": [{"UserIdGroupPairs": [{"GroupId": "sg-2"}]}],
            },
            [("ec2:AuthorizeSecurityGroupIngress", (f"{EC2}:security-group/sg-1",))],
            id="the outer of two",
        ),
        pytest.param(
            "ec2",
            "CreateTags",
            {"Resources": ["sgr-1", "i-2"], "Tags": [{"Key": "GroupId", "Value": "sg-3"}]},
            [
                ("ec2:CreateTags", (f"{EC2}:instance/i-2",)),
                ("ec2:CreateTags", (f"{EC2}:security-group-rule/sgr-1",)),
            ],
            id="ids of any type",
        ),
        pytest.param(
            "logs",
            "DeleteLogGroup",
            {"logGroupName": "/jobs"},
            [
                (
                    "logs:DeleteLogGroup",
                    ("arn:aws:logs:us-west-2:123456789012:log-group:/jobs:log-stream:",),
                )
            ],
            id="a log group",
        ),
        pytest.param(
            "ssm",
            "GetParameters",
            {"Names": ["/aws/service/x", "mine:3"]},
            [
                ("ssm:GetParameters", ("arn:aws:ssm:us-west-2:123456789012:parameter/mine",)),
                ("ssm:GetParameters", ("arn:aws:ssm:us-west-2::parameter/aws/service/x",)),
            ],
            id="parameters",
        ),
        pytest.param(
            "ecr",
            "DescribeRepositories",
            {},
            [
                (
                    "ecr:DescribeRepositories",
                    ("arn:aws:ecr:us-west-2:123456789012:repository/*",),
                )
            ],
            id="none in particular",
        ),
        pytest.param(
            "ecr",
            "GetAuthorizationToken",
            {},
            [("ecr:GetAuthorizationToken", ("*",))],
            id="an action without resources",
        ),
        pytest.param(
            "sqs",
            "DeleteMessageBatch",
            {"QueueUrl": "http://localhost/123456789012/work"},
            [("sqs:DeleteMessage", ("arn:aws:sqs:us-west-2:123456789012:work",))],
            id="another action, and a URL",
        ),
    ],
)
def test_resources_are_read_from_parameters(
    service: str,
    operation: str,
    params: dict[str, Any],
    expected: list[tuple[str, tuple[str, ...]]],
) -> None:
    assert needed(service, operation, **params) == expected


EKS = "arn:aws:eks:us-west-2:123456789012"


@pytest.mark.parametrize(
    ("operation", "params", "resource"),
    [
        pytest.param("DescribeCluster", {"name": "c"}, "cluster/c", id="cluster"),
        pytest.param("ListNodegroups", {"clusterName": "c"}, "cluster/c", id="list"),
        pytest.param(
            "DescribeNodegroup",
            {"clusterName": "c", "nodegroupName": "n"},
            "nodegroup/c/n*",
            id="node-group",
        ),
        pytest.param(
            "DescribeAccessEntry",
            {"clusterName": "c", "principalArn": "arn:aws:iam::210987654321:role/path/r"},
            "access-entry/c/role/210987654321/r/*",
            id="access-entry",
        ),
        pytest.param(
            "DescribePodIdentityAssociation",
            {"clusterName": "c", "associationId": "a-1"},
            "podidentityassociation/c/a-1*",
            id="pod-identity",
        ),
        pytest.param("TagResource", {"resourceArn": f"{EKS}:cluster/c"}, "cluster/c", id="arn"),
    ],
)
def test_what_is_in_a_cluster_is_named_with_it(
    operation: str, params: dict[str, Any], resource: str
) -> None:
    assert needed("eks", operation, **params) == [(f"eks:{operation}", (f"{EKS}:{resource}",))]
