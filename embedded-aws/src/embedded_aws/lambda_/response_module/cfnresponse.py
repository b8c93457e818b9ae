"""The `cfnresponse` module that CloudFormation gives to inline Python functions."""

import json
import urllib.request
from typing import Any

SUCCESS = "SUCCESS"
FAILED = "FAILED"


def send(
    event: dict[str, Any],
    context: Any,
    responseStatus: str,
    responseData: dict[str, Any] | None,
    physicalResourceId: str | None = None,
    noEcho: bool = False,
    reason: str | None = None,
) -> None:
    """Tell CloudFormation how a custom resource's request ended.

    The names of the arguments are AWS's own, as callers may use them.

    Args:
        event: the request.
        context: the function's context; its log stream is the default reason and identity.
        responseStatus: SUCCESS or FAILED.
        responseData: what `Fn::GetAtt` returns.
        physicalResourceId: what `Ref` returns.
        noEcho: hide the data in describe calls.
        reason: shown in the stack's events.
    """
    body = json.dumps(
        {
            "Status": responseStatus,
            "Reason": reason
            or f"See the details in CloudWatch Log Stream: {context.log_stream_name}",
            "PhysicalResourceId": physicalResourceId or context.log_stream_name,
            "StackId": event["StackId"],
            "RequestId": event["RequestId"],
            "LogicalResourceId": event["LogicalResourceId"],
            "NoEcho": noEcho,
            "Data": responseData,
        }
    ).encode()
    request = urllib.request.Request(
        event["ResponseURL"], data=body, method="PUT", headers={"content-type": ""}
    )
    with urllib.request.urlopen(request) as response:
        print("Status code:", response.status)  # noqa: T201 - the function's own log
