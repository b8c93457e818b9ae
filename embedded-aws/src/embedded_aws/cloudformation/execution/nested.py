"""Nested stacks: a stack as a resource of another one."""

import time
from typing import Any, Final
from uuid import uuid4

from botocore.exceptions import ClientError

from embedded_aws.cloudformation.failures import PartlyDone
from embedded_aws.cloudformation.resource import Made, Properties, Request, resource
from embedded_aws.cloudformation.store import Store

_POLL_SECONDS: Final = 0.1
# The caller acknowledged for the whole tree.
_CAPABILITIES: Final = ["CAPABILITY_NAMED_IAM"]


@resource("AWS::CloudFormation::Stack")
class NestedStack:
    """Creates, updates and deletes through CloudFormation's own API."""

    def create(self, request: Request) -> Made:
        """Create the stack and wait for it."""
        cloudformation = request.client("cloudformation")
        suffix = uuid4().hex[:12].upper()
        stack_id: str = cloudformation.create_stack(
            StackName=f"{request.stack_name}-{request.logical_id}-{suffix}"[:128],
            **_wanted(request),
        )["StackId"]
        store = Store(request.account, request.region)
        store.get(stack_id).nest_in(store.get(request.stack_id))
        return _outcome(cloudformation, stack_id, "created")

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Update the stack, if anything changed in it, and wait for it."""
        cloudformation = request.client("cloudformation")
        try:
            cloudformation.update_stack(StackName=physical_id, **_wanted(request))
        except ClientError as error:
            if error.response["Error"]["Message"] != "No updates are to be performed.":
                raise
            return _outcome(cloudformation, physical_id, "kept")
        return _outcome(cloudformation, physical_id, "updated")

    def delete(self, request: Request, physical_id: str) -> None:
        """Delete the stack and wait for it."""
        cloudformation = request.client("cloudformation")
        cloudformation.delete_stack(StackName=physical_id)
        _outcome(cloudformation, physical_id, "deleted")


_GOOD: Final = {
    "created": ("CREATE_COMPLETE",),
    "kept": ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"),
    "updated": ("UPDATE_COMPLETE",),
    "deleted": ("DELETE_COMPLETE",),
}


def _wanted(request: Request) -> dict[str, Any]:
    properties = request.properties
    own = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
    inherited = {key: tag for key, tag in request.tags.items() if not key.startswith("aws:")}
    return {
        "TemplateURL": properties["TemplateURL"],
        "Parameters": [
            {
                "ParameterKey": name,
                "ParameterValue": ",".join(value) if isinstance(value, list) else str(value),
            }
            for name, value in properties.get("Parameters", {}).items()
        ],
        "Tags": [{"Key": key, "Value": tag} for key, tag in {**inherited, **own}.items()],
        "Capabilities": _CAPABILITIES,
    }


def _outcome(cloudformation: Any, stack_id: str, what: str) -> Made:
    while True:
        stack = cloudformation.describe_stacks(StackName=stack_id)["Stacks"][0]
        if not stack["StackStatus"].endswith("_IN_PROGRESS"):
            break
        time.sleep(_POLL_SECONDS)
    if stack["StackStatus"] not in _GOOD[what]:
        failures = [
            event["ResourceStatusReason"]
            for event in cloudformation.describe_stack_events(StackName=stack_id)["StackEvents"]
            if event["ResourceStatus"].endswith("_FAILED") and event.get("ResourceStatusReason")
        ]
        raise PartlyDone(
            f"Embedded stack {stack_id} was not successfully {what}: "
            f"{failures[-1] if failures else stack['StackStatus']}",
            stack_id,
        )
    outputs = {
        f"Outputs.{output['OutputKey']}": output["OutputValue"]
        for output in stack.get("Outputs", [])
    }
    return Made(physical_id=stack_id, attributes=outputs)
