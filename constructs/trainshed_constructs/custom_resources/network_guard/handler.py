"""Stops a deployment that takes a network from stacks, or stacks from theirs.

Inline code has at most 4096 characters.
"""

import logging
import re
from typing import Any

import boto3
import cfnresponse
from botocore.exceptions import ClientError

from trainshed_constructs.custom_resources.patiently import patiently

_IMPORT = re.compile(r"Fn::ImportValue\W+([\w-]+):")  # CDK: STACK:ExportsOutput...
_NOTHING_MADE = ("REVIEW_IN_PROGRESS", "ROLLBACK_COMPLETE")


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation: agree, or refuse with the reason."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    try:
        refusal = _refusal(event) if event["RequestType"] != "Delete" else None
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("cannot tell")
        refusal = f"cannot tell who uses the network: {error}"
    status = cfnresponse.FAILED if refusal else cfnresponse.SUCCESS
    cfnresponse.send(event, context, status, {}, physical_id, reason=refusal)


def _refusal(event: dict[str, Any]) -> str | None:
    now = event["ResourceProperties"]
    before = event.get("OldResourceProperties", now)
    cloudformation = boto3.client("cloudformation")
    [stack] = _ask(cloudformation.describe_stacks, StackName=event["StackId"])["Stacks"]
    if "ROLLBACK" in stack["StackStatus"]:
        return None
    first = name = stack["StackName"]
    problem = ""
    gone = sorted(before["Exported"].keys() - now["Exported"].keys())
    if now["Vpc"] != before["Vpc"]:
        # An internet gateway is in one VPC at a time.
        problem = f"the VPC of {name} cannot change from {before['Vpc']} to {now['Vpc']}"
    elif users := _importers(cloudformation, stack, [before["Exported"][what] for what in gone]):
        first = _list(users)
        problem = f"{', '.join(gone)} cannot go from {name}, in use by {first}"
    else:
        # Clusters use control planes, too.
        here = {name, *before["Users"], *now["Users"]}
        homes = {user: _homes(cloudformation, user) - here for user in now["Users"]}
        if first := _list(user for user in homes if homes[user]):
            problem = f"{first} cannot move from {_list(set().union(*homes.values()))} to {name}"
    return problem and (
        f"{problem}: undo the change, delete {first} (trainshed teardown CLUSTER --stack NAME), "
        f"and make it again; or make a second cluster: {now['Help']}"
    )


def _list(names: Any) -> str:
    return ", ".join(sorted(names))


def _importers(cloudformation: Any, stack: dict[str, Any], marks: list[str]) -> set[str]:
    """Return the stacks that import an export with a mark in its name."""
    found: set[str] = set()
    for export in (output.get("ExportName", "") for output in stack.get("Outputs", [])):
        if any(mark in export for mark in marks):
            answer = _ask(cloudformation.list_imports, "not imported", ExportName=export)
            found.update(answer.get("Imports", []))
    return found


def _homes(cloudformation: Any, name: str) -> set[str]:
    """Return the stacks that a stack imports from."""
    stacks = _ask(cloudformation.describe_stacks, "does not exist", StackName=name).get("Stacks")
    if not stacks or stacks[0]["StackStatus"] in _NOTHING_MADE:
        return set()
    return set(_IMPORT.findall(str(_ask(cloudformation.get_template, StackName=name))))


def _ask(call: Any, none: str | None = None, **params: Any) -> Any:
    """Return the answer; nothing where the error says `none`."""
    try:
        return patiently(call, **params)
    except ClientError as error:
        if none and none in str(error):
            return {}
        raise
