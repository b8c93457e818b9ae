"""Lambda function that stops a deployment which would make another, empty file system.

CloudFormation takes 4096 characters inline.
"""

import logging
from typing import Any

import boto3
import cfnresponse

from trainshed_constructs.custom_resources.patiently import patiently

_CAPACITY = "StorageCapacity"  # GiB; may grow in place


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation: refuse what makes another file system, agree to the rest."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    checks = {"Create": _beside, "Update": _instead}
    try:
        check = checks.get(event["RequestType"])
        refusal = check(event) if check else None
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("cannot tell")
        refusal = f"cannot tell whether the file system would be replaced: {error}"
    status = cfnresponse.FAILED if refusal else cfnresponse.SUCCESS
    cfnresponse.send(event, context, status, {}, physical_id, reason=refusal)


def _beside(event: dict[str, Any]) -> str | None:
    asked = event["ResourceProperties"]
    tag = {"Key": asked["Tag"], "Value": asked["Name"]}
    if asked["AllowReplacement"] == "true":
        return None
    for found in patiently(_list, service=asked["Service"]):
        state = found.get("Lifecycle") or found["LifeCycleState"]
        if tag in found.get("Tags", []) and state.upper() != "DELETING":
            name = found["FileSystemId"]
            return (
                f"{name} was kept when its stack was deleted: use it with {asked['HowToAdopt']}: "
                f"{name}, or make an empty one beside it with {asked['HowToAllow']}"
            )
    return None


def _list(service: str) -> list[dict[str, Any]]:
    pages = boto3.client(service).get_paginator("describe_file_systems").paginate()
    return list(pages.search("FileSystems"))


def _instead(event: dict[str, Any]) -> str | None:
    asked, old = event["ResourceProperties"], event["OldResourceProperties"]
    now, before = asked["FileSystem"], old["FileSystem"]
    changes = [
        f"{each} from {_text(before.get(each))} to {_text(now.get(each))}"
        for each in sorted({*now, *before} - {_CAPACITY})
        if now.get(each) != before.get(each)
    ]
    size, was = now.get(_CAPACITY, 0), before.get(_CAPACITY, 0)
    shrinks = int(size) < int(was)
    link, linked = asked.get("S3"), old.get("S3")
    relinks = bool(link and linked and link != linked)
    if not (changes or shrinks or relinks) or _rolling_back(event["StackId"]):
        return None
    if relinks:
        return (
            f"the link to {linked} has to go before {link} can come: deploy once without s3, then "
            "with the new one"
        )
    if not changes:
        return (
            f"FSx cannot take storage away ({_CAPACITY} from {was} to {size} GiB). For less, make "
            "a second cluster with another name"
        )
    if asked["AllowReplacement"] == "true":
        return None
    return (
        f"changing {', '.join(changes)} needs a new, empty file system: jobs would lose sight of "
        "what is on the present one, which would stay and cost until deleted by hand. Copy what "
        f"you need first, then allow it with {asked['HowToAllow']}"
    )


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else value or "none"


def _rolling_back(stack_id: str) -> bool:
    [stack] = boto3.client("cloudformation").describe_stacks(StackName=stack_id)["Stacks"]
    return "ROLLBACK" in stack["StackStatus"]
