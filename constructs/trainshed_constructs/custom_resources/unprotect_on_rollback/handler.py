"""Lambda function that ends a stack's termination protection when its creation is rolled back.

CloudFormation puts this text inline, where 4096 characters is the limit.
"""

import logging
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation; act only when the creation of the stack is rolled back."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    try:
        if event["RequestType"] == "Delete":
            _unprotect_failed_creation(event["StackId"])
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("the stack stays protected")
        reason = (
            f"the stack stays protected from deletion: {error}. Before you deploy again: "
            "aws cloudformation update-termination-protection --no-enable-termination-protection "
            f"--stack-name {event['StackId']}"
        )
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=reason)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, physical_id)


def _unprotect_failed_creation(stack_id: str) -> None:
    cloudformation = boto3.client("cloudformation")
    [stack] = patiently(cloudformation.describe_stacks, StackName=stack_id)["Stacks"]
    # Not UPDATE_ROLLBACK_...: that stack holds data.
    if stack["StackStatus"] == "ROLLBACK_IN_PROGRESS":
        patiently(
            cloudformation.update_termination_protection,
            StackName=stack_id,
            EnableTerminationProtection=False,
        )
