"""Lambda function that finds an AMI once, checks that nodes can boot it, and keeps its id.

The physical id, `/name:7=ami-...`, is what was found, so that an update which asks for the same
reads nothing again. CloudFormation puts this text inline: 4096 characters is the limit.
"""

import logging
import re
import time
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError

_AMI_ID = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")
_DENIED = ("AccessDeniedException", "UnauthorizedOperation")
# Seconds between tries: a role that was changed a moment ago may not count everywhere yet.
_PAUSES = (2, 4, 8)


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with the AMI id, or with the reason why there is none."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    asked, data = event["ResourceProperties"], {}
    try:
        if event["RequestType"] != "Delete":
            if asked["Ami"] != event.get("OldResourceProperties", {}).get("Ami"):
                physical_id = _find(asked["Ami"], asked["Cell"])
            selector, _, image_id = physical_id.rpartition("=")
            data = {"ImageId": image_id, "Version": selector.rpartition(":")[2]}
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("no AMI")
        reason = f"{error}; {asked['Remedy']}" if isinstance(error, LookupError) else str(error)
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=reason)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, data, physical_id)


def _find(asked: str, cell: str) -> str:
    if not asked.startswith("/"):
        _check(asked, asked, cell)
        return asked
    name, _, version = asked.partition(":")
    ssm = boto3.client("ssm")
    region = ssm.meta.region_name
    try:
        found = _patiently(ssm.get_parameter, Name=asked)["Parameter"]
    except ssm.exceptions.ParameterNotFound:
        raise LookupError(f"there is no SSM parameter {name} in {region}") from None
    except ssm.exceptions.ParameterVersionNotFound:
        raise LookupError(
            f"SSM parameter {name} has no version {version} in {region}: it is yet to come, or "
            "older than the 100 that SSM keeps"
        ) from None
    image_id = found["Value"]
    if not _AMI_ID.fullmatch(image_id):
        raise LookupError(f"SSM parameter {asked} holds {image_id!r}, which is no AMI id")
    _check(image_id, f"{image_id} (SSM parameter {asked})", cell)
    return f"{name}:{found['Version']}={image_id}"


def _check(image_id: str, named: str, cell: str) -> None:
    """Refuse an AMI that is gone, not available, or baked by us for another cell."""
    ec2 = boto3.client("ec2")
    region = ec2.meta.region_name
    try:
        images = _patiently(
            ec2.describe_images, ImageIds=[image_id], IncludeDeprecated=True, IncludeDisabled=True
        )["Images"]
    except ClientError as error:
        if not error.response["Error"]["Code"].startswith("InvalidAMIID"):
            raise
        images = []
    if not images:
        raise LookupError(f"this account sees no AMI {named} in {region}")
    if images[0]["State"] != "available":
        raise LookupError(f"AMI {named} in {region} is {images[0]['State']}, not available")
    tags = {tag["Key"]: tag["Value"] for tag in images[0].get("Tags", [])}
    if "trainshed:build" in tags and cell:
        baked = "/".join(tags.get(f"trainshed:{k}", "?") for k in ("accelerator", "orchestrator"))
        if baked != cell:
            raise LookupError(f"AMI {named} is of {baked}, and the nodes need {cell}")


def _patiently(ask: Any, **params: Any) -> Any:
    pauses = iter(_PAUSES)
    while True:
        try:
            return ask(**params)
        except ClientError as error:
            pause = next(pauses, None)
            if pause is None or error.response["Error"]["Code"] not in _DENIED:
                raise
        time.sleep(pause)
