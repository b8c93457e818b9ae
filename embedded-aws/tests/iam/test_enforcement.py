"""Calls with a role's credentials do what the role's policies allow, and nothing else."""

import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from embedded_aws.embedded import EmbeddedAws

As = Callable[..., Any]
MakeRole = Callable[..., str]
Allow = Callable[..., dict[str, Any]]

JOB = "arn:aws:sts::123456789012:assumed-role/job/test"
DATA = "arn:aws:s3:::data"
QUEUE = "arn:aws:sqs:us-west-2:123456789012:work"


@pytest.fixture
def data(clean_aws: EmbeddedAws) -> None:
    """A bucket with two objects."""
    s3 = clean_aws.client("s3")
    s3.create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
    for key in ("mine/a", "theirs/b"):
        s3.put_object(Bucket="data", Key=key, Body=b"text")


def error(method: Callable[..., Any], **params: Any) -> dict[str, Any]:
    with pytest.raises(ClientError) as caught:
        method(**params)
    response = caught.value.response
    return {**response["Error"], "Status": response["ResponseMetadata"]["HTTPStatusCode"]}


def test_what_a_policy_allows_is_done(
    data: None, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    job = as_role("s3", make_role(allow(["s3:GetObject", "s3:PutObject"], f"{DATA}/mine/*")))

    job.put_object(Bucket="data", Key="mine/a", Body=b"x" * 100_000)

    assert job.head_object(Bucket="data", Key="mine/a")["ContentLength"] == 100_000


@pytest.mark.parametrize(
    ("call", "params", "action", "resource"),
    [
        pytest.param(
            "delete_object",
            {"Key": "mine/a"},
            "DeleteObject",
            f"{DATA}/mine/a",
            id="no statement",
        ),
        pytest.param(
            "get_object",
            {"Key": "theirs/b"},
            "GetObject",
            f"{DATA}/theirs/b",
            id="other resource",
        ),
        pytest.param(
            "get_object",
            {"Key": "mine/a", "VersionId": "1"},
            "GetObjectVersion",
            f"{DATA}/mine/a",
            id="of a version",
        ),
        pytest.param(
            "copy_object",
            {"Key": "mine/c", "CopySource": "data/theirs/b"},
            "GetObject",
            f"{DATA}/theirs/b",
            id="source of a copy",
        ),
        pytest.param(
            "delete_objects",
            {"Delete": {"Objects": [{"Key": "mine/a"}]}},
            "DeleteObject",
            f"{DATA}/mine/a",
            id="several at once",
        ),
        pytest.param(
            "delete_bucket_encryption",
            {},
            "PutEncryptionConfiguration",
            DATA,
            id="a bucket's configuration",
        ),
    ],
)
def test_s3_denies_the_rest_in_its_words(
    data: None,
    make_role: MakeRole,
    as_role: As,
    allow: Allow,
    call: str,
    params: dict[str, Any],
    action: str,
    resource: str,
) -> None:
    job = as_role("s3", make_role(allow(["s3:GetObject", "s3:PutObject"], f"{DATA}/mine/*")))

    refused = error(getattr(job, call), Bucket="data", **params)

    assert (refused["Code"], refused["Status"]) == ("AccessDenied", 403)
    assert refused["Message"] == (
        f"User: {JOB} is not authorized to perform: s3:{action} on resource: {resource} because "
        f"no identity-based policy allows the s3:{action} action"
    )


@pytest.mark.parametrize(
    ("service", "call", "params", "code", "status", "denied"),
    [
        (
            "ec2",
            "describe_vpcs",
            {},
            "UnauthorizedOperation",
            403,
            "ec2:DescribeVpcs on resource: *",
        ),
        (
            "iam",
            "get_role",
            {"RoleName": "job"},
            "AccessDenied",
            403,
            "iam:GetRole on resource: arn:aws:iam::123456789012:role/job",
        ),
        (
            "batch",
            "submit_job",
            {"jobName": "x", "jobQueue": "q", "jobDefinition": "d:1"},
            "AccessDeniedException",
            403,
            "batch:SubmitJob on resource: arn:aws:batch:us-west-2:123456789012:job-definition/d:1",
        ),
        (
            "lambda",
            "invoke",
            {"FunctionName": "f"},
            "AccessDeniedException",
            403,
            "lambda:InvokeFunction on resource: arn:aws:lambda:us-west-2:123456789012:function:f",
        ),
        (
            "logs",
            "put_log_events",
            {
                "logGroupName": "/g",
                "logStreamName": "s",
                "logEvents": [{"timestamp": 1, "message": "x"}],
            },
            "AccessDeniedException",
            400,
            "logs:PutLogEvents on resource: "
            "arn:aws:logs:us-west-2:123456789012:log-group:/g:log-stream:s",
        ),
        (
            "ssm",
            "get_parameter",
            {"Name": "/a/b:2"},
            "AccessDeniedException",
            400,
            "ssm:GetParameter on resource: arn:aws:ssm:us-west-2:123456789012:parameter/a/b",
        ),
        (
            "sqs",
            "send_message_batch",
            {
                "QueueUrl": "http://localhost/123456789012/work",
                "Entries": [{"Id": "1", "MessageBody": "x"}],
            },
            "AccessDeniedException",
            400,
            f"sqs:SendMessage on resource: {QUEUE}",
        ),
        (
            "autoscaling",
            "delete_auto_scaling_group",
            {"AutoScalingGroupName": "g"},
            "AccessDenied",
            403,
            "autoscaling:DeleteAutoScalingGroup on resource: arn:aws:autoscaling:us-west-2:"
            "123456789012:autoScalingGroup:*:autoScalingGroupName/g",
        ),
        (
            "fsx",
            "create_file_system",
            {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0123456789abcdef0"]},
            "AccessDeniedException",
            400,
            "fsx:CreateFileSystem on resource: arn:aws:fsx:us-west-2:123456789012:file-system/*",
        ),
    ],
)
def test_each_protocol_denies_in_its_own_way(
    make_role: MakeRole,
    as_role: As,
    allow: Allow,
    service: str,
    call: str,
    params: dict[str, Any],
    code: str,
    status: int,
    denied: str,
) -> None:
    client = as_role(service, make_role(allow("kms:CreateKey")))

    refused = error(getattr(client, call), **params)

    assert (refused["Code"], refused["Status"]) == (code, status)
    assert f"User: {JOB} is not authorized to perform: {denied} because" in refused["Message"]


def test_an_explicit_denial_wins(
    data: None, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    deny = {**allow("s3:*", f"{DATA}/theirs/*"), "Effect": "Deny"}
    job = as_role("s3", make_role(deny, allow("*")))

    refused = error(job.get_object, Bucket="data", Key="theirs/b")

    assert refused["Message"].endswith("with an explicit deny in an identity-based policy")
    job.get_object(Bucket="data", Key="mine/a")


def test_a_boundary_limits_and_gives_nothing(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    document = {"Version": "2012-10-17", "Statement": allow(["ec2:*", "iam:ListRoles"])}
    boundary = clean_aws.client("iam").create_policy(
        PolicyName="boundary", PolicyDocument=json.dumps(document)
    )["Policy"]["Arn"]
    role = make_role(allow(["ec2:DescribeVpcs", "sqs:ListQueues"]), PermissionsBoundary=boundary)

    as_role("ec2", role).describe_vpcs()

    beyond = error(as_role("sqs", role).list_queues)
    assert beyond["Message"].endswith(
        "because no permissions boundary allows the sqs:ListQueues action"
    )
    not_given = error(as_role("iam", role).list_roles)
    assert "no identity-based policy" in not_given["Message"]


def test_a_session_policy_limits_its_session_only(
    make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    role = make_role(allow("ec2:Describe*"))
    document = {"Version": "2012-10-17", "Statement": [allow("ec2:DescribeVpcs")]}
    limited = as_role("ec2", role, Policy=json.dumps(document))

    limited.describe_vpcs()

    assert error(limited.describe_subnets)["Message"].endswith(
        "because no session policy allows the ec2:DescribeSubnets action"
    )
    as_role("ec2", role).describe_subnets()


def test_an_attached_policy_counts_in_its_default_version(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    iam = clean_aws.client("iam")
    role = make_role(allow("sqs:ListQueues"))

    def document(action: str) -> str:
        return json.dumps({"Version": "2012-10-17", "Statement": [allow(action)]})

    arn = iam.create_policy(PolicyName="more", PolicyDocument=document("ec2:DescribeVpcs"))[
        "Policy"
    ]["Arn"]
    iam.attach_role_policy(RoleName="job", PolicyArn=arn)
    as_role("ec2", role).describe_vpcs()
    iam.create_policy_version(
        PolicyArn=arn, PolicyDocument=document("ec2:DescribeSubnets"), SetAsDefault=True
    )

    as_role("ec2", role).describe_subnets()

    assert error(as_role("ec2", role).describe_vpcs)["Code"] == "UnauthorizedOperation"


def test_a_condition_on_a_parameter_decides(
    data: None, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    condition = {"StringLike": {"s3:prefix": "mine/*"}}
    job = as_role("s3", make_role(allow("s3:ListBucket", DATA, Condition=condition)))

    job.list_objects_v2(Bucket="data", Prefix="mine/")

    assert error(job.list_objects_v2, Bucket="data", Prefix="theirs/")["Code"] == "AccessDenied"
    assert error(job.list_objects_v2, Bucket="data")["Code"] == "AccessDenied"


def test_a_condition_on_tags_of_the_resource_decides(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    ec2 = clean_aws.client("ec2")
    mine, theirs = (ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"] for _ in range(2))
    ec2.create_tags(Resources=[mine], Tags=[{"Key": "owner", "Value": "job"}])
    condition = {"StringEquals": {"aws:ResourceTag/owner": "job"}}
    job = as_role("ec2", make_role(allow("ec2:DeleteVpc", Condition=condition)))

    assert error(job.delete_vpc, VpcId=theirs)["Code"] == "UnauthorizedOperation"
    job.delete_vpc(VpcId=mine)


def test_a_key_pair_has_its_tags_under_its_name(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    ec2 = clean_aws.client("ec2")
    mine = [{"ResourceType": "key-pair", "Tags": [{"Key": "owner", "Value": "job"}]}]
    ec2.create_key_pair(KeyName="mine", TagSpecifications=mine)
    ec2.create_key_pair(KeyName="theirs")
    condition = {"StringEquals": {"aws:ResourceTag/owner": "job"}}
    job = as_role("ec2", make_role(allow("ec2:DeleteKeyPair", Condition=condition)))

    job.delete_key_pair(KeyName="mine")

    assert error(job.delete_key_pair, KeyName="theirs")["Code"] == "UnauthorizedOperation"


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        ({"Description": {"Value": "new"}}, True),
        ({"Attribute": "description", "Value": "new"}, True),
        ({"Description": {"Value": "other"}}, False),
        ({"ImdsSupport": {"Value": "v2.0"}}, False),
        ({"Attribute": "description", "LaunchPermission": {"Add": [{"Group": "all"}]}}, False),
    ],
)
def test_a_condition_on_the_attribute_that_a_call_sets_decides(
    clean_aws: EmbeddedAws,
    make_role: MakeRole,
    as_role: As,
    allow: Allow,
    change: dict[str, Any],
    allowed: bool,
) -> None:
    ec2 = clean_aws.client("ec2")
    snapshot = ec2.create_snapshot(
        VolumeId=ec2.create_volume(Size=8, AvailabilityZone="us-west-2a")["VolumeId"]
    )["SnapshotId"]
    image = ec2.register_image(
        Name="mine",
        RootDeviceName="/dev/xvda",
        BlockDeviceMappings=[{"DeviceName": "/dev/xvda", "Ebs": {"SnapshotId": snapshot}}],
    )["ImageId"]
    # EC2 API reference, "Granting IAM users required permissions for Amazon EC2 resources".
    condition = {
        "StringEquals": {"ec2:Attribute": "Description", "ec2:Attribute/Description": "new"}
    }
    job = as_role("ec2", make_role(allow("ec2:ModifyImageAttribute", Condition=condition)))

    try:
        job.modify_image_attribute(ImageId=image, **change)
    except ClientError as caught:
        assert not allowed
        assert caught.response["Error"]["Code"] == "UnauthorizedOperation"
    else:
        assert allowed


def test_copying_the_tags_of_an_ami_needs_the_permission_to_tag(
    make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    copying = as_role("ec2", make_role(allow("ec2:CopyImage")))

    refused = error(
        copying.copy_image,
        Name="copy",
        SourceImageId="ami-1",
        SourceRegion="us-west-2",
        CopyImageTags=True,
    )

    assert "ec2:CreateTags on resource: arn:aws:ec2:us-west-2::image/*" in refused["Message"]


def test_tagging_what_is_made_needs_its_own_permission(
    make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    tags = [{"ResourceType": "vpc", "Tags": [{"Key": "owner", "Value": "job"}]}]
    made_by = {"StringEquals": {"ec2:CreateAction": "CreateVpc", "aws:RequestTag/owner": "job"}}
    plain = as_role("ec2", make_role(allow("ec2:CreateVpc"), name="plain"))
    tagging = as_role(
        "ec2", make_role(allow("ec2:CreateVpc"), allow("ec2:CreateTags", Condition=made_by))
    )

    refused = error(plain.create_vpc, CidrBlock="10.0.0.0/16", TagSpecifications=tags)
    tagging.create_vpc(CidrBlock="10.0.0.0/16", TagSpecifications=tags)

    assert "ec2:CreateTags on resource: arn:aws:ec2:us-west-2:123456789012:vpc/*" in str(refused)
    vpc = plain.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    assert "ec2:CreateTags" in str(
        error(tagging.create_tags, Resources=[vpc], Tags=[{"Key": "owner", "Value": "job"}])
    )


def test_an_operator_that_is_not_evaluated_is_named(
    make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    condition = {"DateGreaterThan": {"aws:CurrentTime": "2020-01-01T00:00:00Z"}}
    job = as_role("ec2", make_role(allow("ec2:DescribeVpcs", Condition=condition)))

    refused = error(job.describe_vpcs)

    assert refused["Code"] == "UnsupportedOperation"
    assert "the condition operator DateGreaterThan of a policy" in refused["Message"]


def test_a_call_that_no_model_has_is_not_supported(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    job = as_role("ec2", make_role(allow("*")))
    job.meta.events.register("before-call", _rename)

    refused = error(job.describe_vpcs)

    assert refused["Code"] == "UnsupportedOperation"


def _rename(params: dict[str, Any], **_: object) -> None:
    params["body"]["Action"] = "DescribeNothing"


def test_a_bucket_policy_that_names_the_role_counts_too(
    clean_aws: EmbeddedAws, data: None, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    role = make_role(allow("s3:ListAllMyBuckets"))
    statement = allow("s3:GetObject", f"{DATA}/*", Principal={"AWS": role})
    clean_aws.client("s3").put_bucket_policy(
        Bucket="data", Policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    )

    as_role("s3", role).get_object(Bucket="data", Key="mine/a")

    other = as_role("s3", make_role(allow("s3:ListAllMyBuckets"), name="other"))
    assert error(other.get_object, Bucket="data", Key="mine/a")["Code"] == "AccessDenied"


def test_a_role_that_does_not_exist_cannot_be_assumed(clean_aws: EmbeddedAws) -> None:
    arn = "arn:aws:iam::123456789012:role/nobody"

    refused = error(clean_aws.client("sts").assume_role, RoleArn=arn, RoleSessionName="test")

    assert refused["Code"] == "AccessDenied"
    assert refused["Message"].endswith(f"sts:AssumeRole on resource: {arn}")


def test_a_role_that_is_gone_may_nothing(
    clean_aws: EmbeddedAws, make_role: MakeRole, as_role: As, allow: Allow
) -> None:
    role = make_role(allow("*"))
    job, sts = as_role("ec2", role), as_role("sts", role)
    job.describe_vpcs()
    iam = clean_aws.client("iam")
    iam.delete_role_policy(RoleName="job", PolicyName="own")
    iam.delete_role(RoleName="job")

    assert error(job.describe_vpcs)["Code"] == "UnauthorizedOperation"
    assert error(sts.get_caller_identity)["Code"] == "InvalidClientTokenId"


@pytest.mark.parametrize(
    ("service", "call", "code"),
    [
        ("s3", "list_buckets", "ExpiredToken"),
        ("iam", "list_roles", "ExpiredToken"),
        ("ssm", "describe_parameters", "ExpiredTokenException"),
        ("lambda", "list_functions", "ExpiredTokenException"),
        ("ec2", "describe_vpcs", "RequestExpired"),
    ],
)
def test_expired_credentials_are_refused(
    clean_aws: EmbeddedAws,
    make_role: MakeRole,
    allow: Allow,
    service: str,
    call: str,
    code: str,
) -> None:
    # boto3 itself refuses less than 15 minutes.
    sts = boto3.client("sts", config=Config(parameter_validation=False))
    given = sts.assume_role(
        RoleArn=make_role(allow("*")), RoleSessionName="test", DurationSeconds=-1
    )["Credentials"]
    expired = boto3.client(
        service,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )

    assert error(getattr(expired, call))["Code"] == code


def test_a_compressed_request_is_read(make_role: MakeRole, as_role: As, allow: Allow) -> None:
    condition = {"StringEquals": {"cloudwatch:namespace": "Training"}}
    role = make_role(allow("cloudwatch:PutMetricData", Condition=condition))
    metrics = as_role("cloudwatch", role)
    # boto3 compresses requests from 10,240 bytes on.
    data = [{"MetricName": f"loss-{index:0250}", "Value": 1.0} for index in range(100)]

    metrics.put_metric_data(Namespace="Training", MetricData=data)

    refused = error(metrics.put_metric_data, Namespace="Other", MetricData=data)
    assert refused["Code"] == "AccessDeniedException"


def test_everybody_may_ask_who_he_is(make_role: MakeRole, as_role: As, allow: Allow) -> None:
    deny = {**allow("*"), "Effect": "Deny"}

    assert as_role("sts", make_role(deny)).get_caller_identity()["Arn"] == JOB


@pytest.mark.parametrize(
    ("allowed", "by_name", "signals"),
    [
        pytest.param("Nodes/*", True, True, id="name"),
        pytest.param("Others/*", True, False, id="another-stack"),
        pytest.param("{id}", False, True, id="id"),
        # https://github.com/awslabs/ecs-refarch-continuous-deployment/issues/21: a call by name
        # acts on stack/NAME/*.
        pytest.param("{id}", True, False, id="id-by-name"),
    ],
)
def test_a_role_signals_the_stacks_that_it_may(
    clean_aws: EmbeddedAws,
    make_role: Any,
    as_role: Any,
    allow: Any,
    allowed: str,
    by_name: bool,
    signals: bool,
) -> None:
    condition = {
        "Type": "AWS::CloudFormation::WaitCondition",
        "CreationPolicy": {"ResourceSignal": {"Timeout": "PT1H"}},
    }
    stack_id = clean_aws.client("cloudformation").create_stack(
        StackName="Nodes", TemplateBody=json.dumps({"Resources": {"Done": condition}})
    )["StackId"]
    start, own = stack_id.split(":stack/")
    role = make_role(
        allow("cloudformation:SignalResource", f"{start}:stack/{allowed.format(id=own)}")
    )
    stack = "Nodes" if by_name else stack_id
    signal = {"StackName": stack, "LogicalResourceId": "Done", "UniqueId": "a"}

    try:
        as_role("cloudformation", role).signal_resource(**signal, Status="SUCCESS")
    except ClientError as error:
        assert not signals
        assert "is not authorized to perform: cloudformation:SignalResource" in str(error)
    else:
        assert signals
