"""S3 buckets and their policies."""

import json
from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.s3.resource_types.settings import SETTINGS


@resource("AWS::S3::Bucket")
class Bucket(Handler):
    """A bucket with its settings; its Ref is the bucket's name."""

    service = "s3"
    target, name, name_limit = "Bucket", "BucketName", 63
    creation = "CreateBucket", "Bucket"
    deletion = "DeleteBucket"
    later, settings = tuple(SETTINGS), SETTINGS
    fixed = ("ObjectLockEnabled",)
    known = (*SETTINGS, "BucketName", "ObjectLockEnabled", "Tags")

    def _generated_name(self, request: Request) -> str:
        # S3 allows lower case only.
        return super()._generated_name(request).lower()

    def _wanted(self, request: Request) -> dict[str, Any]:
        properties = request.properties
        wanted: dict[str, Any] = {"Bucket": super()._wanted(request)["BucketName"]}
        if "ObjectLockEnabled" in properties:
            wanted["ObjectLockEnabledForBucket"] = properties["ObjectLockEnabled"]
        # us-east-1 is the one region that must not be named.
        if request.region != "us-east-1":
            wanted["CreateBucketConfiguration"] = {"LocationConstraint": request.region}
        return wanted

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        super()._configure(request, physical_id, before)
        self._retag(request, physical_id, all_tags(request), [])

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        # S3's API refuses `aws:` tags; CloudFormation sets them without it.
        settable = {key: text for key, text in tags.items() if not key.startswith("aws:")}
        s3 = request.client("s3")
        if settable:
            s3.put_bucket_tagging(Bucket=physical_id, Tagging={"TagSet": tag_list(settable)})
        elif stale:
            s3.delete_bucket_tagging(Bucket=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        region = request.region
        return {
            "Arn": f"arn:aws:s3:::{physical_id}",
            "DomainName": f"{physical_id}.s3.amazonaws.com",
            "DualStackDomainName": f"{physical_id}.s3.dualstack.{region}.amazonaws.com",
            "RegionalDomainName": f"{physical_id}.s3.{region}.amazonaws.com",
            "WebsiteURL": f"http://{physical_id}.s3-website-{region}.amazonaws.com",
        }


@resource("AWS::S3::BucketPolicy")
class BucketPolicy(Handler):
    """The policy of a bucket; its Ref is the bucket's name."""

    service = "s3"
    target = "Bucket"
    deletion = "DeleteBucketPolicy"

    def _create(self, request: Request) -> str:
        return str(request.properties["Bucket"])

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        document = json.dumps(request.properties["PolicyDocument"])
        request.client("s3").put_bucket_policy(Bucket=physical_id, Policy=document)
