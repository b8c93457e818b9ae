"""Lambda function that finds out where an existing FSx file system is, and whether it will do.

CloudFormation puts this text inline, where 4096 characters is the limit.
"""

import logging
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation with the facts, or with the reason why nodes cannot use it."""
    asked = event["ResourceProperties"]
    physical_id = asked["FileSystemId"]
    try:
        data = {} if event["RequestType"] == "Delete" else _facts(asked)
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("no file system")
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=str(error))
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, data, physical_id)


def _facts(asked: dict[str, Any]) -> dict[str, str]:
    name = asked["FileSystemId"]
    fsx, ec2 = boto3.client("fsx"), boto3.client("ec2")
    try:
        [found] = patiently(fsx.describe_file_systems, FileSystemIds=[name])["FileSystems"]
    except fsx.exceptions.FileSystemNotFound:
        raise LookupError(f"there is no file system {name} in {fsx.meta.region_name}") from None
    if found["FileSystemType"] != asked["FileSystemType"]:
        raise ValueError(
            f"{name} is of type {found['FileSystemType']}, not {asked['FileSystemType']}"
        )
    # UPDATING: it can be used meanwhile.
    if found["Lifecycle"] not in ("AVAILABLE", "UPDATING"):
        raise ValueError(f"{name} is {found['Lifecycle']}, not AVAILABLE")
    if found["VpcId"] != asked["VpcId"]:
        raise ValueError(
            f"{name} is in {found['VpcId']}, and the nodes are in {asked['VpcId']}: give that VPC "
            "in the cluster file (network.vpc and network.subnet)"
        )
    lustre = found.get("LustreConfiguration", {})
    efa = str(lustre.get("EfaEnabled", False)).lower()
    if asked["Efa"] == "true" and efa != "true":
        raise ValueError(f"{name} is not EFA-enabled; leave out storage.lustre.efa")
    [interface, *_] = patiently(
        ec2.describe_network_interfaces, NetworkInterfaceIds=found["NetworkInterfaceIds"][:1]
    )["NetworkInterfaces"]
    return {
        "DnsName": found["DNSName"],
        # Of Lustre alone.
        "MountName": lustre.get("MountName", ""),
        # Each of its groups holds for all of its interfaces; one that lets the nodes in will do.
        "SecurityGroupId": min(group["GroupId"] for group in interface["Groups"]),
    }
