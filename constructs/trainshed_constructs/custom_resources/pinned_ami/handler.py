"""Lambda function that finds an AMI once, checks that nodes can boot it, and keeps its id.

The physical id, `/name:7=ami-...`, is what was found. CloudFormation allows 4096 characters.
"""

import logging
import re
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError

from trainshed_constructs.custom_resources.patiently import patiently

_AMI_ID = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with the AMI id, or with the reason why there is none."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    asked, data = event["ResourceProperties"], {}
    try:
        if event["RequestType"] != "Delete":
            if asked["Ami"] != event.get("OldResourceProperties", {}).get("Ami"):
                physical_id = _find(asked)
            selector, _, image_id = physical_id.rpartition("=")
            data = {"ImageId": image_id, "Version": selector.rpartition(":")[2]}
    # Without an answer CloudFormation waits for the time-out.
    except Exception as error:
        reason = str(error)
        if isinstance(error, LookupError):
            # On lines of its own, among what CloudFormation says.
            reason = f"\n{error}; {asked['Remedy']}\n"
        else:
            logging.exception("cannot tell")
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=reason)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, data, physical_id)


def _find(wanted: dict[str, str]) -> str:
    asked = wanted["Ami"]
    if not asked.startswith("/"):
        _check(asked, asked, wanted)
        return asked
    name, _, version = asked.partition(":")
    ssm = boto3.client("ssm")
    region = ssm.meta.region_name
    try:
        found = patiently(ssm.get_parameter, Name=asked)["Parameter"]
    except ssm.exceptions.ParameterNotFound:
        raise LookupError(f"there is no SSM parameter {name} in {region}") from None
    except ssm.exceptions.ParameterVersionNotFound:
        raise LookupError(
            f"SSM parameter {name} has no version {version} in {region}: it is yet to come, or "
            "older than the 100 that SSM keeps"
        ) from None
    image_id = found["Value"]
    if not _AMI_ID.fullmatch(image_id):
        raise LookupError(f"SSM parameter {asked} holds {image_id!r}, which is not an AMI id")
    _check(image_id, f"{image_id} (SSM parameter {asked})", wanted)
    return f"{name}:{found['Version']}={image_id}"


def _check(image_id: str, named: str, wanted: dict[str, str]) -> None:
    ec2 = boto3.client("ec2")
    region = ec2.meta.region_name
    try:
        images = patiently(
            ec2.describe_images, ImageIds=[image_id], IncludeDeprecated=True, IncludeDisabled=True
        )["Images"]
    except ClientError as error:
        if not error.response["Error"]["Code"].startswith("InvalidAMIID"):
            raise
        images = []
    if not images:
        raise LookupError(f"this account sees no AMI {named} in {region}")
    image, cell, root = images[0], wanted["Cell"], wanted["RootDevice"]
    if image["State"] != "available":
        raise LookupError(f"AMI {named} in {region} is {image['State']}, not available")
    if root not in ("", its := image.get("RootDeviceName")):
        raise LookupError(f"AMI {named} has root device {its}, and the nodes need {root}")
    tags = {tag["Key"]: tag["Value"] for tag in image.get("Tags", [])}
    baked = "/".join(tags.get(f"trainshed:{k}", "?") for k in ("accelerator", "orchestrator"))
    if "trainshed:build" in tags and cell not in ("", baked):
        raise LookupError(f"AMI {named} is of {baked}, and the nodes need {cell}")
