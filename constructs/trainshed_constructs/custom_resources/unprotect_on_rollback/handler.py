"""Lambda function that ends a stack's termination protection when its creation is rolled back.

And the deletion protection of its cluster of EKS, if it has one.

CloudFormation puts this text inline, where 4096 characters is the limit.
"""

import logging
import time
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation; act only when the creation of the stack is rolled back."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    cluster = event["ResourceProperties"].get("EksCluster")
    try:
        if event["RequestType"] == "Delete":
            _unprotect_failed_creation(event["StackId"], cluster)
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("the stack stays protected")
        also = f"; aws eks update-cluster-config --no-deletion-protection --name {cluster}"
        reason = (
            f"the stack stays protected from deletion: {error}. Before you deploy again: "
            "aws cloudformation update-termination-protection --no-enable-termination-protection "
            f"--stack-name {event['StackId']}{also if cluster else ''}"
        )
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=reason)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, physical_id)


def _unprotect_failed_creation(stack_id: str, eks_cluster: str | None) -> None:
    cloudformation = boto3.client("cloudformation")
    [stack] = patiently(cloudformation.describe_stacks, StackName=stack_id)["Stacks"]
    # Not UPDATE_ROLLBACK_...: that stack holds data.
    if stack["StackStatus"] == "ROLLBACK_IN_PROGRESS":
        patiently(
            cloudformation.update_termination_protection,
            StackName=stack_id,
            EnableTerminationProtection=False,
        )
        if eks_cluster:
            _unprotect_cluster(eks_cluster)


def _unprotect_cluster(name: str) -> None:
    eks = boto3.client("eks")
    update = patiently(eks.update_cluster_config, name=name, deletionProtection=False)["update"]
    # EKS deletes no cluster that it is updating; CloudFormation waits two minutes for this.
    for _ in range(10):
        if update["status"] != "InProgress":
            return
        time.sleep(5)
        update = patiently(eks.describe_update, name=name, updateId=update["id"])["update"]
