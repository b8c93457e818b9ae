"""Lambda function that reads the AMI id from an SSM parameter once, and keeps it.

What was read is the resource's physical id, `/name:7=ami-...`, so that an update which asks for
the same parameter answers without reading it again. CloudFormation puts this text inline, where
4096 characters is the limit.
"""

import logging
import re
import time
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError

_AMI_ID = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")
# Seconds between tries: a role that was changed a moment ago may not count everywhere yet.
_PAUSES = (2, 4, 8)


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with the AMI id, or with the reason why there is none."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    try:
        if event["RequestType"] == "Delete":
            data = {}
        else:
            physical_id = _pinned(event)
            selector, _, image_id = physical_id.rpartition("=")
            data = {"ImageId": image_id, "Version": selector.rpartition(":")[2]}
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("no AMI id")
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=str(error))
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, data, physical_id)


def _pinned(event: dict[str, Any]) -> str:
    asked = event["ResourceProperties"]["Parameter"]
    before = event.get("OldResourceProperties", {}).get("Parameter")
    pinned: str = event["PhysicalResourceId"] if asked == before else _read(asked)
    return pinned


def _read(asked: str) -> str:
    name, _, version = asked.partition(":")
    ssm = boto3.client("ssm")
    region = ssm.meta.region_name
    try:
        found = _patiently(ssm, asked)
    except ssm.exceptions.ParameterNotFound:
        raise LookupError(
            f"there is no SSM parameter {name} in {region}: publish an AMI to it, or name another"
        ) from None
    except ssm.exceptions.ParameterVersionNotFound:
        raise LookupError(
            f"SSM parameter {name} has no version {version} in {region}: it is yet to come, or "
            "older than the 100 that SSM keeps; name another"
        ) from None
    if not _AMI_ID.fullmatch(found["Value"]):
        raise ValueError(f"SSM parameter {asked} holds {found['Value']!r}, which is no AMI id")
    return f"{name}:{found['Version']}={found['Value']}"


def _patiently(ssm: Any, asked: str) -> dict[str, Any]:
    for pause in (*_PAUSES, None):
        try:
            found: dict[str, Any] = ssm.get_parameter(Name=asked)["Parameter"]
            break
        except ClientError as error:
            if error.response["Error"]["Code"] != "AccessDeniedException" or pause is None:
                raise
        time.sleep(pause)
    return found
