"""Buckets and their policies through their handlers."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from embedded_aws.cloudformation.resource import HandlerError

BLOCKED = {
    "BlockPublicAcls": True,
    "BlockPublicPolicy": True,
    "IgnorePublicAcls": True,
    "RestrictPublicBuckets": True,
}


@pytest.fixture
def bucket(deploy: Any) -> Any:
    return deploy(
        "AWS::S3::Bucket",
        "Data",
        BucketEncryption={
            "ServerSideEncryptionConfiguration": [
                {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}
            ]
        },
        PublicAccessBlockConfiguration=BLOCKED,
        VersioningConfiguration={"Status": "Enabled"},
        LifecycleConfiguration={
            "Rules": [
                {
                    "Id": "old",
                    "Status": "Enabled",
                    "NoncurrentVersionExpiration": {"NoncurrentDays": 30},
                },
                {
                    "Id": "cold",
                    "Status": "Enabled",
                    "Prefix": "runs/",
                    "ExpirationInDays": 365,
                    "Transitions": [{"StorageClass": "GLACIER", "TransitionInDays": 90}],
                },
            ]
        },
        Tags=[{"Key": "Name", "Value": "data"}],
    )


def test_a_bucket_is_as_the_template_says(client: Any, bucket: Any) -> None:
    s3 = client("s3")

    encryption = s3.get_bucket_encryption(Bucket=bucket.ref)["ServerSideEncryptionConfiguration"]
    rules = s3.get_bucket_lifecycle_configuration(Bucket=bucket.ref)["Rules"]

    assert bucket.ref.startswith("stack-data-")
    by_default = encryption["Rules"][0]["ApplyServerSideEncryptionByDefault"]
    assert by_default == {"SSEAlgorithm": "aws:kms"}
    blocked = s3.get_public_access_block(Bucket=bucket.ref)["PublicAccessBlockConfiguration"]
    assert blocked == BLOCKED
    assert s3.get_bucket_versioning(Bucket=bucket.ref)["Status"] == "Enabled"
    assert rules[0]["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert (rules[1]["Filter"], rules[1]["Expiration"]) == ({"Prefix": "runs/"}, {"Days": 365})
    assert rules[1]["Transitions"] == [{"Days": 90, "StorageClass": "GLACIER"}]
    tags = s3.get_bucket_tagging(Bucket=bucket.ref)["TagSet"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"Name": "data", "Owner": "ml-platform"}


def test_a_bucket_loses_what_the_template_drops(client: Any, bucket: Any) -> None:
    s3 = client("s3")

    bucket.update(
        "LifecycleConfiguration", "PublicAccessBlockConfiguration", "VersioningConfiguration"
    )

    assert s3.get_bucket_versioning(Bucket=bucket.ref)["Status"] == "Suspended"
    with pytest.raises(ClientError, match="NoSuchLifecycleConfiguration"):
        s3.get_bucket_lifecycle_configuration(Bucket=bucket.ref)
    with pytest.raises(ClientError, match="NoSuchPublicAccessBlockConfiguration"):
        s3.get_public_access_block(Bucket=bucket.ref)


def test_a_bucket_with_objects_is_not_deleted(client: Any, deploy: Any) -> None:
    s3 = client("s3")
    bucket = deploy("AWS::S3::Bucket")
    s3.put_object(Bucket=bucket.ref, Key="key", Body=b"")

    with pytest.raises(ClientError, match="BucketNotEmpty"):
        bucket.delete()
    s3.delete_object(Bucket=bucket.ref, Key="key")
    bucket.delete()
    bucket.delete()

    assert bucket.ref not in [each["Name"] for each in s3.list_buckets()["Buckets"]]


def test_a_bucket_refuses_what_the_embedded_aws_cannot_set(deploy: Any) -> None:
    with pytest.raises(HandlerError, match="cannot set WebsiteConfiguration of AWS::S3::Bucket"):
        deploy("AWS::S3::Bucket", WebsiteConfiguration={"IndexDocument": "index.html"})


def test_a_bucket_policy_is_put_changed_and_removed(client: Any, deploy: Any) -> None:
    s3 = client("s3")
    bucket = deploy("AWS::S3::Bucket")

    def denying(action: str) -> dict[str, Any]:
        arn = bucket.attributes["Arn"]
        statement = {"Effect": "Deny", "Principal": "*", "Action": action, "Resource": arn}
        return {"Version": "2012-10-17", "Statement": [statement]}

    policy = deploy("AWS::S3::BucketPolicy", Bucket=bucket.ref, PolicyDocument=denying("s3:Get*"))
    first = json.loads(s3.get_bucket_policy(Bucket=bucket.ref)["Policy"])
    policy.update(PolicyDocument=denying("s3:*"))
    second = json.loads(s3.get_bucket_policy(Bucket=bucket.ref)["Policy"])
    policy.delete()
    policy.delete()

    assert (first, second) == (denying("s3:Get*"), denying("s3:*"))
    with pytest.raises(ClientError, match="NoSuchBucketPolicy"):
        s3.get_bucket_policy(Bucket=bucket.ref)
