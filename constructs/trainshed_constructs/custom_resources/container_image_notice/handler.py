"""Lambda function that says whether a container image is in its ECR repository; it never fails.

CloudFormation puts this text inline: 4096 characters is the limit.
"""

import logging
from datetime import UTC, datetime
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with one sentence about the image."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    data = {}
    if event["RequestType"] != "Delete":
        asked = event["ResourceProperties"]
        # A missing image stops jobs, not the stack: it can be pushed at any time afterwards.
        try:
            said = _notice(asked)
        except Exception as error:
            logging.exception("the image was not looked for")
            said = f"{_image(asked)} was not looked for ({error}); see {asked['List']}"
        said = f"at {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {said}"
        # CloudFormation's limit for an output's value is 1024 bytes; an error may be longer.
        data = {"Notice": said.encode()[:1000].decode(errors="ignore")}
    cfnresponse.send(event, context, cfnresponse.SUCCESS, data, physical_id)


def _notice(asked: dict[str, str]) -> str:
    ecr = boto3.client("ecr")
    kind = "imageDigest" if asked["TagOrDigest"].startswith("sha256:") else "imageTag"
    try:
        found = patiently(
            ecr.describe_images,
            repositoryName=asked["Repository"],
            imageIds=[{kind: asked["TagOrDigest"]}],
        )["imageDetails"]
    except ecr.exceptions.ImageNotFoundException:
        found = []
    except ecr.exceptions.RepositoryNotFoundException:
        return f"there was no repository {asked['Repository']} yet; {asked['Remedy']}"
    if not found:
        return f"{_image(asked)} was not there yet; {asked['Remedy']} (look again: {asked['List']})"
    return f"{_image(asked)} was there ({found[0]['imageDigest']})"


def _image(asked: dict[str, str]) -> str:
    mark = "@" if asked["TagOrDigest"].startswith("sha256:") else ":"
    return f"image {asked['Repository']}{mark}{asked['TagOrDigest']}"
