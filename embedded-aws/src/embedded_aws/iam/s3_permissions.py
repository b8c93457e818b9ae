"""Which permissions a call of S3 needs, whose operations are seldom called as its actions.

Amazon S3 user guide, "Required permissions for Amazon S3 API operations".
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from embedded_aws.iam.api_calls import ApiCall

_ACTIONS = {
    "CompleteMultipartUpload": "PutObject",
    "CopyObject": "PutObject",
    "CreateMultipartUpload": "PutObject",
    "DeleteBucketCors": "PutBucketCORS",
    "DeleteBucketOwnershipControls": "PutBucketOwnershipControls",
    "DeleteBucketTagging": "PutBucketTagging",
    "DeleteObjects": "DeleteObject",
    "DeletePublicAccessBlock": "PutBucketPublicAccessBlock",
    "GetBucketNotificationConfiguration": "GetBucketNotification",
    "GetObjectLockConfiguration": "GetBucketObjectLockConfiguration",
    "GetPublicAccessBlock": "GetBucketPublicAccessBlock",
    "HeadBucket": "ListBucket",
    "HeadObject": "GetObject",
    "ListBuckets": "ListAllMyBuckets",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListObjectVersions": "ListBucketVersions",
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "ListParts": "ListMultipartUploadParts",
    "PutBucketNotificationConfiguration": "PutBucketNotification",
    "PutObjectLockConfiguration": "PutBucketObjectLockConfiguration",
    "PutPublicAccessBlock": "PutBucketPublicAccessBlock",
    "SelectObjectContent": "GetObject",
    "UploadPart": "PutObject",
    "UploadPartCopy": "PutObject",
}
_CONFIGURATION = re.compile(
    r"(Get|List|Put|Delete)Bucket(Accelerate|Analytics|Encryption|IntelligentTiering|Inventory"
    r"|Lifecycle|Metrics|Replication)(?:Configurations?)?"
)
_OF_VERSION = re.compile("(Get|Delete|Put|Restore)(Object(?:Acl|Tagging)?)")


def s3_permissions(call: ApiCall) -> Iterator[tuple[str, str]]:
    """Yield actions with the ARN of the bucket or object."""
    bucket, key = call.params.get("Bucket"), call.params.get("Key")
    version = call.params.get("VersionId")
    action = _action(call.operation)
    if bucket is None:
        yield f"s3:{action}", "*"
    elif call.operation == "DeleteObjects":
        for each in call.params["Delete"]["Objects"]:
            yield _on_object(action, f"{bucket}/{each['Key']}", each.get("VersionId"))
    elif key is None:
        yield f"s3:{action}", f"arn:aws:s3:::{bucket}"
    else:
        yield _on_object(action, f"{bucket}/{key}", version)
    if source := call.params.get("CopySource"):
        path, _, version = unquote(source).removeprefix("/").partition("?versionId=")
        yield _on_object("GetObject", path, version)


def _action(operation: str) -> str:
    if found := _CONFIGURATION.fullmatch(operation):
        does, subject = found.groups()
        return f"{'Get' if does in ('Get', 'List') else 'Put'}{subject}Configuration"
    return _ACTIONS.get(operation, operation)


def _on_object(action: str, path: str, version: str | None) -> tuple[str, str]:
    if version and (found := _OF_VERSION.fullmatch(action)):
        action = f"{found[1]}ObjectVersion{found[2].removeprefix('Object')}"
    return f"s3:{action}", f"arn:aws:s3:::{path}"
