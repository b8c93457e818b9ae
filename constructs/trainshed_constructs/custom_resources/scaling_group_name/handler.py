"""Lambda function that says how EKS has called the Auto Scaling group of a node group.

Inline: 4096 characters at most.
"""

import logging
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with the name."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    data = {}
    try:
        if event["RequestType"] != "Delete":
            data = {"Name": _name(**event["ResourceProperties"])}
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("cannot tell")
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=str(error))
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, data, physical_id)


def _name(ClusterName: str, NodegroupName: str, **_: Any) -> str:
    eks = boto3.client("eks")
    found = patiently(eks.describe_nodegroup, clusterName=ClusterName, nodegroupName=NodegroupName)[
        "nodegroup"
    ]
    name: str = found["resources"]["autoScalingGroups"][0]["name"]
    return name
