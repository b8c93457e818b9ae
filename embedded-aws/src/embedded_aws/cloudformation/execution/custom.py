"""Custom resources: the user's function makes them and answers through a response URL."""

import json
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final
from uuid import uuid4

from embedded_aws.cloudformation.failures import PartlyDone, reason_of
from embedded_aws.cloudformation.resource import HandlerError, Made, Properties, Request, resource
from embedded_aws.cloudformation.template.scope import mapped, text

# Seconds to wait for an answer when the template has no ServiceTimeout. AWS waits an hour;
# here a function answers in seconds or never.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-cloudformation-customresource.html
DEFAULT_TIMEOUT: Final = 120

RESPONSE_PATH: Final = "/cloudformation_{region}/cfnresponse"

# Where functions reach the embedded AWS, for instance `http://localhost:4566`.
origin: ContextVar[str] = ContextVar("origin")


# Gets the function's answer, or the error because of which there is none.
_Mailbox = queue.SimpleQueue[Mapping[str, Any] | Exception]

_mailboxes: dict[str, _Mailbox] = {}


def deliver(token: str, body: bytes | str) -> bool:
    """Deliver a function's answer; return False when nobody waits for it.

    Args:
        token: from the response URL.
        body: the answer, a JSON object.
    """
    mailbox = _mailboxes.get(token)
    if mailbox is None:
        return False
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict):
        mailbox.put(answer)
    else:
        mailbox.put(HandlerError("The response to the ResponseURL is not a JSON object."))
    return True


@resource("AWS::CloudFormation::CustomResource")
class CustomResource:
    """Sends Create, Update and Delete to the function that ServiceToken names.

    NoEcho in an answer has no effect: the embedded AWS shows no property values.
    """

    def create(self, request: Request) -> Made:
        """Have the function create the resource."""
        generated = f"{request.stack_name}-{request.logical_id}-{uuid4().hex[:12]}"
        return _send(request, "Create", generated, {})

    def update(self, request: Request, physical_id: str, before: Properties) -> Made:
        """Have the function change it; another physical id means that it made another one."""
        if request.properties["ServiceToken"] != before["ServiceToken"]:
            raise HandlerError("Modifying service token is not allowed.", "NotUpdatable")
        more = {
            "PhysicalResourceId": physical_id,
            "OldResourceProperties": mapped(before, text),
        }
        return _send(request, "Update", physical_id, more)

    def delete(self, request: Request, physical_id: str) -> None:
        """Have the function delete it."""
        _send(request, "Delete", physical_id, {"PhysicalResourceId": physical_id})


def _send(request: Request, request_type: str, physical_id: str, more: Mapping[str, Any]) -> Made:
    function = str(request.properties.get("ServiceToken", ""))
    if ":lambda:" not in function:
        raise HandlerError(
            f"ServiceToken {function!r} is not a Lambda function, the only kind that the "
            "embedded AWS calls",
            "NotUpdatable",
        )
    with _mailbox(request.region) as (url, mailbox):
        event = {
            "RequestType": request_type,
            "ServiceToken": function,
            "ResponseURL": url,
            "StackId": request.stack_id,
            "RequestId": str(uuid4()),
            "LogicalResourceId": request.logical_id,
            "ResourceType": request.resource_type,
            # Every scalar reaches the function as text, as on AWS.
            "ResourceProperties": mapped(request.properties, text),
            **more,
        }
        threading.Thread(
            target=_invoke, args=(request.client("lambda"), function, event, mailbox), daemon=True
        ).start()
        seconds = int(request.properties.get("ServiceTimeout", DEFAULT_TIMEOUT))
        try:
            answer = mailbox.get(timeout=seconds)
        except queue.Empty:
            raise PartlyDone(
                "CloudFormation did not receive a response from your Custom Resource within "
                f"{seconds} seconds. Please check your logs for requestId [{event['RequestId']}].",
                physical_id,
            ) from None
    if isinstance(answer, HandlerError):
        raise PartlyDone(reason_of(answer), physical_id) from answer
    if isinstance(answer, Exception):
        raise answer
    answered = str(answer.get("PhysicalResourceId") or physical_id)
    if answer.get("Status") != "SUCCESS":
        raise PartlyDone(
            f"Received response status [FAILED] from custom resource. Message returned: "
            f"{answer.get('Reason') or 'none'} (RequestId: {event['RequestId']})",
            answered if request_type == "Create" else physical_id,
        )
    return Made(physical_id=answered, attributes=answer.get("Data") or {})


def _invoke(lambda_: Any, function: str, event: Mapping[str, Any], mailbox: _Mailbox) -> None:
    """Call the function, and fail at once when it does.

    AWS calls it asynchronously, retries twice and then waits for the time-out.
    """
    try:
        reply = lambda_.invoke(FunctionName=function, Payload=json.dumps(event))
        if "FunctionError" in reply:
            raise HandlerError(f"the function failed: {reply['Payload'].read().decode()}")
    except Exception as error:
        # Raised by the thread that waits for the answer.
        mailbox.put(error)


@contextmanager
def _mailbox(region: str) -> Iterator[tuple[str, _Mailbox]]:
    """Register a secret URL for one answer."""
    token = uuid4().hex
    mailbox: _Mailbox = queue.SimpleQueue()
    _mailboxes[token] = mailbox
    path = RESPONSE_PATH.format(region=region)
    try:
        yield f"{origin.get()}{path}?token={token}", mailbox
    finally:
        del _mailboxes[token]
