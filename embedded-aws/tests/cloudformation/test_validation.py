"""Properties are held against AWS's published schemas."""

from typing import Any

import pytest

from embedded_aws.cloudformation.failures import InvalidProperties
from embedded_aws.cloudformation.schema import schema_of
from embedded_aws.cloudformation.template.validation import valid_properties


def _checked(resource_type: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = schema_of(resource_type, "us-west-2")
    assert schema is not None
    return valid_properties(properties, schema=schema, logical_id="Mine")


def _launch_template(**interface: Any) -> dict[str, Any]:
    return {"LaunchTemplateData": {"NetworkInterfaces": [interface]}}


@pytest.mark.parametrize(
    ("resource_type", "properties", "message"),
    [
        pytest.param(
            "AWS::SNS::Topic",
            {"TopicNam": "x"},
            "#: extraneous key [TopicNam] is not permitted",
            id="unknown",
        ),
        pytest.param(
            "AWS::EC2::LaunchTemplate",
            _launch_template(Card=1),
            "#/LaunchTemplateData/NetworkInterfaces/0: extraneous key [Card] is not permitted",
            id="unknown-inside",
        ),
        pytest.param(
            "AWS::EC2::LaunchTemplate",
            {},
            "#: required key [LaunchTemplateData] not found",
            id="required",
        ),
        pytest.param(
            "AWS::EC2::LaunchTemplate",
            _launch_template(DeviceIndex="first"),
            "#/LaunchTemplateData/NetworkInterfaces/0/DeviceIndex: "
            "expected type: Integer, found: String",
            id="type",
        ),
        pytest.param(
            "AWS::SNS::Topic",
            {"Tags": "all"},
            "#/Tags: expected type: Array, found: String",
            id="type-of-a-list",
        ),
        pytest.param(
            "AWS::EC2::PlacementGroup",
            {"Strategy": "banana"},
            "#/Strategy: banana is not a valid enum value",
            id="enum",
        ),
        pytest.param(
            "AWS::S3::Bucket",
            {"BucketName": "No Bucket"},
            "#/BucketName: failed validation constraint for keyword [pattern]",
            id="pattern",
        ),
        pytest.param(
            "AWS::Logs::LogGroup",
            {"LogGroupName": "x" * 600},
            "#/LogGroupName: expected maxLength: 512, actual: 600",
            id="length",
        ),
        pytest.param(
            "AWS::SNS::Topic",
            {"TopicArn": "arn:aws:sns:us-west-2:123456789012:x"},
            "#: extraneous key [TopicArn] is not permitted, it is read-only",
            id="read-only",
        ),
    ],
)
def test_a_property_is_refused(
    resource_type: str, properties: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidProperties) as refusal:
        _checked(resource_type, properties)

    start = "Properties validation failed for resource Mine with message: "
    assert str(refusal.value).startswith(start)
    assert message in str(refusal.value).removeprefix(start).split("\n")


def test_every_problem_is_named() -> None:
    with pytest.raises(InvalidProperties) as refusal:
        _checked("AWS::EC2::PlacementGroup", {"Strategy": "banana", "Tag": []})

    assert "banana" in str(refusal.value)
    assert "[Tag]" in str(refusal.value)


def test_scalars_are_coerced_as_cloudformation_does() -> None:
    checked = _checked(
        "AWS::EC2::LaunchTemplate",
        _launch_template(DeviceIndex="1", DeleteOnTermination="true", Description=7),
    )

    assert checked == _launch_template(DeviceIndex=1, DeleteOnTermination=True, Description="7")


def test_a_refused_property_fails_the_resource(stack: Any) -> None:
    group = {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "banana"}}

    assert stack.create({"G": group}) == "ROLLBACK_COMPLETE"

    assert stack.reason("G", "CREATE_FAILED") == (
        "Properties validation failed for resource G with message: "
        "#/Strategy: banana is not a valid enum value"
    )


@pytest.mark.parametrize(
    ("resource_type", "properties", "message"),
    [
        pytest.param(
            "AWS::EC2::LaunchTemplate",
            _launch_template(InterfaceType="banana"),
            "Invalid value 'banana' for InterfaceType",
            id="documentation",
        ),
        pytest.param(
            "AWS::FSx::FileSystem",
            {
                "FileSystemType": "LUSTRE",
                "SubnetIds": ["subnet-0123456789abcdef0"],
                "LustreConfiguration": {"DeploymentType": "PERSISTENT_9"},
            },
            "Value 'PERSISTENT_9' at 'LustreConfiguration.DeploymentType' failed",
            id="model",
        ),
    ],
)
def test_the_api_refuses_values_that_the_schema_does_not_list(
    stack: Any, resource_type: str, properties: dict[str, Any], message: str
) -> None:
    stack.create({"R": {"Type": resource_type, "Properties": properties}})

    assert message in stack.reason("R", "CREATE_FAILED")


def test_what_the_api_refuses_the_resource_says(stack: Any) -> None:
    taken = f"{stack.name}-taken"
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": taken}}
    configuration = {"LocationConstraint": "us-west-2"}
    stack.cloud.client("s3").create_bucket(Bucket=taken, CreateBucketConfiguration=configuration)

    stack.create({"B": bucket})

    reason = stack.reason("B", "CREATE_FAILED")
    assert "Error Code: BucketAlready" in reason
    assert "HandlerErrorCode: AlreadyExists" in reason
