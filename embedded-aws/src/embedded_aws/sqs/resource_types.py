"""SQS queues and their policies."""

from collections.abc import Iterable
from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource

_NAME_LENGTH = 80
_FIFO = ".fifo"
# Defaults of attributes that the template no longer sets; the others are unset.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
_DEFAULTS = {
    "ContentBasedDeduplication": False,
    "DelaySeconds": 0,
    "KmsDataKeyReusePeriodSeconds": 300,
    "MaximumMessageSize": 1048576,
    "MessageRetentionPeriod": 345600,
    "ReceiveMessageWaitTimeSeconds": 0,
    "SqsManagedSseEnabled": True,
    "VisibilityTimeout": 30,
}


@resource("AWS::SQS::Queue")
class Queue(Handler):
    """A queue; its Ref is the URL."""

    service = "sqs"
    target, name = "QueueUrl", "QueueName"
    creation = "CreateQueue", "QueueUrl"
    deletion = "DeleteQueue"
    tagging = Tagging(target="QueueUrl", tag="TagQueue", untag="UntagQueue", form=dict)

    _settable = (
        "ContentBasedDeduplication",
        "DeduplicationScope",
        "DelaySeconds",
        "FifoThroughputLimit",
        "KmsDataKeyReusePeriodSeconds",
        "KmsMasterKeyId",
        "MaximumMessageSize",
        "MessageRetentionPeriod",
        "ReceiveMessageWaitTimeSeconds",
        "RedriveAllowPolicy",
        "RedrivePolicy",
        "SqsManagedSseEnabled",
        "VisibilityTimeout",
    )
    known = ("FifoQueue", "QueueName", "Tags", *_settable)

    def _wanted(self, request: Request) -> dict[str, Any]:
        attributes = present(request.properties, "FifoQueue", *self._settable)
        return present(super()._wanted(request), "QueueName", "Tags") | {"Attributes": attributes}

    def _generated_name(self, request: Request) -> str:
        # SQS requires the suffix, and CloudFormation may generate the name.
        end = _FIFO if request.properties.get("FifoQueue") in (True, "true") else ""
        return generated_name(request, limit=_NAME_LENGTH - len(end)) + end

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        names = [name for name in self._settable if changed(request, before, name)]
        values = {name: request.properties.get(name, _DEFAULTS.get(name, "")) for name in names}
        if values:
            wanted = {"Attributes": values}
            self._call(request, "SetQueueAttributes", wanted, QueueUrl=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("sqs").get_queue_attributes(
            QueueUrl=physical_id, AttributeNames=["QueueArn"]
        )
        arn: str = reply["Attributes"]["QueueArn"]
        return {"Arn": arn, "QueueName": arn.rpartition(":")[2]}


@resource("AWS::SQS::QueuePolicy")
class QueuePolicy(Handler):
    """One policy on several queues; its Ref is a generated name."""

    service = "sqs"

    def _create(self, request: Request) -> str:
        return generated_name(request, limit=128)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        document = request.properties["PolicyDocument"]
        for queue in request.properties["Queues"]:
            self._set_policy(request, queue, document)
        self._take_off(request, {*before.get("Queues", ())} - {*request.properties["Queues"]})

    def _delete(self, request: Request, physical_id: str) -> None:
        self._take_off(request, request.properties["Queues"])

    def _take_off(self, request: Request, queues: Iterable[str]) -> None:
        for queue in queues:
            # The policy of a deleted queue is gone.
            with forgiving():
                self._set_policy(request, queue, "")

    def _set_policy(self, request: Request, queue: str, document: Any) -> None:
        wanted = {"Attributes": {"Policy": document}}
        self._call(request, "SetQueueAttributes", wanted, QueueUrl=queue)
