"""Lambda function that stops an update which would bring a new, empty file system.

The file system depends on this resource, so CloudFormation comes here first, with the properties
that cannot change in place. CloudFormation puts this text inline, where 4096 characters is the
limit.
"""

import logging
from typing import Any

import boto3
import cfnresponse

_CAPACITY = "StorageCapacity"  # in GiB; FSx adds storage in place


def handler(event: dict[str, Any], context: Any) -> None:
    """Answer CloudFormation: refuse an update that replaces, agree to everything else."""
    physical_id = event.get("PhysicalResourceId", event["LogicalResourceId"])
    try:
        refusal = _refusal(event) if event["RequestType"] == "Update" else None
    # Without an answer CloudFormation waits until the resource's time-out.
    except Exception as error:
        logging.exception("cannot tell whether the file system would be replaced")
        refusal = f"cannot tell whether the file system would be replaced: {error}"
    if refusal:
        cfnresponse.send(event, context, cfnresponse.FAILED, {}, physical_id, reason=refusal)
    else:
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {}, physical_id)


def _refusal(event: dict[str, Any]) -> str | None:
    asked = event["ResourceProperties"]
    now, before = asked["FileSystem"], event["OldResourceProperties"]["FileSystem"]
    changes = [
        f"{name} from {before.get(name)} to {now.get(name)}"
        for name in sorted({*now, *before} - {_CAPACITY})
        if now.get(name) != before.get(name)
    ]
    shrinks = int(now[_CAPACITY]) < int(before[_CAPACITY])
    if not (changes or shrinks) or _rolling_back(event["StackId"]):
        return None
    if not changes:
        return (
            f"FSx cannot take storage away ({_CAPACITY} from {before[_CAPACITY]} to "
            f"{now[_CAPACITY]} GiB). For a smaller file system beside this one, name another"
        )
    if asked["AllowReplacement"] == "true":
        return None
    return (
        f"changing {', '.join(changes)} needs a new, empty file system: jobs would lose sight of "
        f"what is on the present one ({before[_CAPACITY]} GiB), which would stay and cost until "
        f"deleted by hand. Copy what you need first, then allow it with {asked['HowToAllow']}"
    )


def _rolling_back(stack_id: str) -> bool:
    """Tell whether CloudFormation goes back to what is there; it asks here for that, too."""
    [stack] = boto3.client("cloudformation").describe_stacks(StackName=stack_id)["Stacks"]
    return "ROLLBACK" in stack["StackStatus"]
