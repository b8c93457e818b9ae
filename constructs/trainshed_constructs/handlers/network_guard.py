"""Lambda function that stops an update which would take a network away from what is in it.

The VPC depends on this resource, so CloudFormation comes here first. It puts this text inline,
where 4096 characters is the limit.
"""

import logging
from collections.abc import Iterator
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation: refuse what stacks of the network stand in the way of."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    try:
        refusal = _refusal(event) if event["RequestType"] == "Update" else None
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("cannot tell who uses the network")
        refusal = f"cannot tell who uses the network: {error}"
    if refusal:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=refusal)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, physical_id)


def _refusal(event: dict[str, Any]) -> str | None:
    now, before = event["ResourceProperties"], event["OldResourceProperties"]
    moves = now["Cidr"] != before["Cidr"]
    gone = sorted(before["Zones"].keys() - now["Zones"].keys())
    if not (moves or gone):
        return None
    cloudformation = boto3.client("cloudformation")
    [stack] = cloudformation.describe_stacks(StackName=event["StackId"])["Stacks"]
    if "ROLLBACK" in stack["StackStatus"]:
        return None
    name, instead = stack["StackName"], f"or make a second cluster with another name: {now['Help']}"
    if moves:
        # The internet gateway can be in one VPC only, so there cannot be a new one beside the old.
        return (
            f"the range of {name} cannot change from {before['Cidr']} to {now['Cidr']}: delete it "
            f"first with all that is in it (trainshed teardown CLUSTER), {instead}"
        )
    marks = [before["Zones"][zone] for zone in gone]
    users = sorted(set(_users(cloudformation, stack["StackId"], marks)))
    if not users:
        return None
    return (
        f"zone {', '.join(gone)} cannot go from {name}, in use by {', '.join(users)}: delete them "
        f"first (trainshed teardown CLUSTER --stack NAME), {instead}"
    )


def _users(cloudformation: Any, stack_id: str, marks: list[str]) -> Iterator[str]:
    """Yield the stacks that import an export whose name has one of the marks."""
    for page in cloudformation.get_paginator("list_exports").paginate():
        for export in page["Exports"]:
            mine = export["ExportingStackId"] == stack_id
            if mine and any(mark in export["Name"] for mark in marks):
                yield from _importers(cloudformation, export["Name"])


def _importers(cloudformation: Any, name: str) -> list[str]:
    try:
        imports: list[str] = cloudformation.list_imports(ExportName=name)["Imports"]
    except ClientError as error:
        if "not imported" not in error.response["Error"]["Message"]:
            raise
        return []
    return imports
