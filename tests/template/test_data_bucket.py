"""The bucket of clusters in templates: what is kept, how it is encrypted and cleaned up."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template

from trainshed.spec import BucketLifecycle
from trainshed_constructs import DataBucket

KEY = "arn:aws:kms:us-west-2:123456789012:key/11111111-1111-1111-1111-111111111111"
NAME = "trainshed-train-123456789012-us-west-2"


def made(**fields: Any) -> Template:
    stack = cdk.Stack(cdk.App(), "Storage")
    DataBucket(stack, "Bucket", name="train", bucket_name=NAME, **fields)
    return Template.from_stack(stack)


@pytest.mark.parametrize("kind", ["AWS::S3::Bucket", "AWS::S3::BucketPolicy"])
def test_it_and_its_policy_stay_when_the_stack_goes(kind: str) -> None:
    kept = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}

    made().has_resource(kind, kept)


def test_requests_without_tls_are_refused() -> None:
    without_tls = {"Bool": {"aws:SecureTransport": "false"}}
    statement = Match.object_like({"Effect": "Deny", "Condition": without_tls})

    made().has_resource_properties(
        "AWS::S3::BucketPolicy", {"PolicyDocument": {"Statement": Match.array_with([statement])}}
    )


@pytest.mark.parametrize(
    ("key", "encryption"),
    [
        (None, {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}),
        (
            KEY,
            {
                "BucketKeyEnabled": True,
                "ServerSideEncryptionByDefault": {
                    "KMSMasterKeyID": KEY,
                    "SSEAlgorithm": "aws:kms",
                },
            },
        ),
    ],
)
def test_a_key_of_yours_is_asked_once_for_many_objects(
    key: str | None, encryption: dict[str, Any]
) -> None:
    made(kms_key_arn=key).has_resource_properties(
        "AWS::S3::Bucket",
        {"BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]}},
    )


def test_versions_and_uploads_are_cleaned_up_beside_the_rules_that_are_asked_for() -> None:
    template = made(lifecycle=[BucketLifecycle(prefix="runs/", glacier_days=90, expire_days=400)])

    [bucket] = template.find_resources("AWS::S3::Bucket").values()

    assert bucket["Properties"]["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["Properties"]["LifecycleConfiguration"]["Rules"] == [
        {
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
            "ExpiredObjectDeleteMarker": True,
            "Id": "CleanUp",
            "NoncurrentVersionExpiration": {"NoncurrentDays": 90},
            "Status": "Enabled",
        },
        {
            "ExpirationInDays": 400,
            "Prefix": "runs/",
            "Status": "Enabled",
            "Transitions": [{"StorageClass": "GLACIER", "TransitionInDays": 90}],
        },
    ]


@pytest.mark.parametrize(
    ("prefix", "published"),
    [("", {"bucket-name": NAME}), ("sets/", {"bucket-name": NAME, "prefix": "sets/"})],
)
def test_nodes_find_the_bucket_and_what_of_it_is_mounted(
    prefix: str, published: dict[str, str]
) -> None:
    found = made(mount_prefix=prefix).find_resources("AWS::SSM::Parameter").values()

    values = {each["Properties"]["Name"]: each["Properties"]["Value"] for each in found}
    names = {f"/trainshed/bucket/train/{name}": value for name, value in published.items()}
    assert values.keys() == names.keys()
    assert values.get("/trainshed/bucket/train/prefix") == published.get("prefix")
