"""Lambda function that takes AWS's two rules off a VPC's default security group.

Create revokes them, Delete puts them back. The group's id is the physical id, so that an update to
another group takes that one over, and CloudFormation then deletes the old. CloudFormation puts
this text inline, where 4096 characters is the limit.
"""

import logging
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError


def handler(event: dict[str, Any], context: Any) -> None:
    """Do what CloudFormation asks, and answer it in every case."""
    group_id = event["ResourceProperties"]["GroupId"]
    try:
        if event["RequestType"] == "Delete":
            _restore(group_id)
        elif event.get("PhysicalResourceId") != group_id:
            _revoke(group_id)
    # Without an answer CloudFormation waits for an hour. Nothing is raised from here, because
    # Lambda would try again after the stack has rolled back.
    except Exception as error:
        logging.exception("%s of the rules of %s failed", event["RequestType"], group_id)
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, group_id, reason=str(error))
        return
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, group_id)


def _revoke(group_id: str) -> None:
    ec2 = boto3.client("ec2")
    gone = "InvalidPermission.NotFound"
    _call(ec2.revoke_security_group_ingress, group_id, _from_itself(group_id), gone)
    _call(ec2.revoke_security_group_egress, group_id, _to_anywhere(), gone)


def _restore(group_id: str) -> None:
    ec2 = boto3.client("ec2")
    there = ("InvalidPermission.Duplicate", "InvalidGroup.NotFound")
    _call(ec2.authorize_security_group_ingress, group_id, _from_itself(group_id), *there)
    _call(ec2.authorize_security_group_egress, group_id, _to_anywhere(), *there)


def _from_itself(group_id: str) -> dict[str, Any]:
    return {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group_id}]}


def _to_anywhere() -> dict[str, Any]:
    return {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}


def _call(change: Any, group_id: str, permission: dict[str, Any], *done: str) -> None:
    """Change a rule; an error code in `done` says that there is nothing left to change."""
    try:
        change(GroupId=group_id, IpPermissions=[permission])
    except ClientError as error:
        if error.response["Error"]["Code"] not in done:
            raise
