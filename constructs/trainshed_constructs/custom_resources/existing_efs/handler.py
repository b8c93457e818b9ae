"""Lambda function that lets a group of nodes in to an existing EFS file system, in one zone.

A zone has one mount target: it gets a further group, or is made. Inline: 4096 characters at most.
"""

import logging
import time
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation: let the group in, or take it out again."""
    asked = event["ResourceProperties"]
    physical_id = f"{asked['FileSystemId']}/{asked['SubnetId']}"
    try:
        (_take_out if event["RequestType"] == "Delete" else _let_in)(**asked)
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("not done")
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=str(error))
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, physical_id)


def _let_in(FileSystemId: str, SubnetId: str, VpcId: str, GroupId: str, **_: Any) -> None:
    efs = boto3.client("efs")
    try:
        [found] = patiently(efs.describe_file_systems, FileSystemId=FileSystemId)["FileSystems"]
    except efs.exceptions.FileSystemNotFound:
        region = efs.meta.region_name
        raise LookupError(f"there is no EFS file system {FileSystemId} in {region}") from None
    if found["LifeCycleState"] not in ("available", "updating"):
        raise ValueError(f"{FileSystemId} is {found['LifeCycleState']}")
    targets = _targets(efs, FileSystemId)
    for target in targets:
        if target["VpcId"] != VpcId:
            raise ValueError(
                f"{FileSystemId} has mount targets in {target['VpcId']}, and the nodes are in "
                f"{VpcId}: give that VPC in network.vpc and network.subnet"
            )
    here = _here(targets, SubnetId)
    if not here:
        efs.create_mount_target(
            FileSystemId=FileSystemId, SubnetId=SubnetId, SecurityGroups=[GroupId]
        )
        return
    if GroupId not in (groups := _groups(efs, here[0])):
        efs.modify_mount_target_security_groups(
            MountTargetId=here[0], SecurityGroups=[*groups, GroupId]
        )


def _take_out(FileSystemId: str, SubnetId: str, GroupId: str, **_: Any) -> None:
    efs = boto3.client("efs")
    try:
        targets = _targets(efs, FileSystemId)
    except efs.exceptions.FileSystemNotFound:
        return
    made = set()
    for name in _here(targets, SubnetId):
        groups = _groups(efs, name)
        others = [group for group in groups if group != GroupId]
        if not others:
            efs.delete_mount_target(MountTargetId=name)
            made.add(name)
        elif others != groups:
            efs.modify_mount_target_security_groups(MountTargetId=name, SecurityGroups=others)
    for _again in range(20):  # the group cannot go while an interface has it
        if made.isdisjoint(each["MountTargetId"] for each in _targets(efs, FileSystemId)):
            return
        time.sleep(4)


def _here(targets: list[dict[str, Any]], name: str) -> list[str]:
    [subnet] = patiently(boto3.client("ec2").describe_subnets, SubnetIds=[name])["Subnets"]
    zone = subnet["AvailabilityZoneId"]
    return [each["MountTargetId"] for each in targets if each["AvailabilityZoneId"] == zone]


def _targets(efs: Any, name: str) -> list[dict[str, Any]]:
    return list(patiently(efs.describe_mount_targets, FileSystemId=name)["MountTargets"])


def _groups(efs: Any, name: str) -> list[str]:
    answer = efs.describe_mount_target_security_groups(MountTargetId=name)
    return list(answer["SecurityGroups"])
