"""CDK's own custom resources, whose handlers are functions written for AWS's Node.js runtime."""

from collections.abc import Callable
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import custom_resources as cr

from embedded_aws.deployment import Deployment
from embedded_aws.embedded import EmbeddedAws

ENVIRONMENT = cdk.Environment(account="123456789012", region="us-west-2")
PARAMETER = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
# An event handler of CDK's provider framework, whose own functions are Node.js ones.
ON_EVENT = """
def handler(event, context):
    return {"PhysicalResourceId": "made", "Data": {"Said": event["ResourceProperties"]["Say"]}}
"""


def add_resources(stack: cdk.Stack, code: Path) -> None:
    vpc = ec2.Vpc(
        stack,
        "Vpc",
        availability_zones=["us-west-2a"],
        nat_gateways=0,
        restrict_default_security_group=True,
    )
    bucket = s3.Bucket(
        stack,
        "Bucket",
        auto_delete_objects=True,
        removal_policy=cdk.RemovalPolicy.DESTROY,
        enforce_ssl=True,
    )
    call = cr.AwsCustomResource(
        stack,
        "Call",
        on_update=cr.AwsSdkCall(
            service="SSM",
            action="getParameter",
            parameters={"Name": PARAMETER},
            physical_resource_id=cr.PhysicalResourceId.of("call"),
        ),
        policy=cr.AwsCustomResourcePolicy.from_sdk_calls(
            resources=cr.AwsCustomResourcePolicy.ANY_RESOURCE
        ),
    )
    (code / "index.py").write_text(ON_EVENT)
    on_event = lambda_.Function(
        stack,
        "OnEvent",
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_asset(str(code)),
    )
    provided = cdk.CustomResource(
        stack,
        "Provided",
        service_token=cr.Provider(stack, "Provider", on_event_handler=on_event).service_token,
        properties={"Say": "hello"},
    )
    for name, value in {
        "Group": vpc.vpc_default_security_group,
        "BucketName": bucket.bucket_name,
        "Image": call.get_response_field("Parameter.Value"),
        "Said": provided.get_att_string("Said"),
    }.items():
        cdk.CfnOutput(stack, name, value=value)


@pytest.fixture
def deployment(cdk_deployed: Callable[..., dict[str, Deployment]], tmp_path: Path) -> Deployment:
    app = cdk.App(outdir=str(tmp_path / "assembly"))
    stack = cdk.Stack(app, "Custom", env=ENVIRONMENT)
    code = tmp_path / "code"
    code.mkdir()
    add_resources(stack, code)
    return cdk_deployed(Path(app.synth().directory))["Custom"]


def test_cdks_custom_resources_do_their_work_and_undo_it(
    deployment: Deployment, clean_aws: EmbeddedAws
) -> None:
    outputs = deployment.outputs
    bucket = outputs["BucketName"]
    group = clean_aws.client("ec2").describe_security_groups(GroupIds=[outputs["Group"]])
    image = clean_aws.client("ssm").get_parameter(Name=PARAMETER)["Parameter"]["Value"]

    assert outputs["Image"] == image
    assert outputs["Said"] == "hello"
    [described] = group["SecurityGroups"]
    assert (described["IpPermissions"], described["IpPermissionsEgress"]) == ([], [])

    cloudformation = clean_aws.client("cloudformation")
    clean_aws.client("s3").put_object(Bucket=bucket, Key="checkpoints/1", Body=b"weights")
    cloudformation.delete_stack(StackName="Custom")
    cloudformation.get_waiter("stack_delete_complete").wait(StackName="Custom")

    buckets = clean_aws.client("s3").list_buckets()["Buckets"]
    assert bucket not in [each["Name"] for each in buckets]
