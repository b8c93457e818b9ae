"""SQS queues and their policies."""

from collections.abc import Iterable, Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import (
    Handler,
    changed,
    forgiving,
    present,
    refuse_unknown,
)
from embedded_aws.cloudformation.handlers.names import generated_name
from embedded_aws.cloudformation.handlers.tags import all_tags
from embedded_aws.cloudformation.resource import Properties, Request, resource

_NAME_LENGTH = 80
_FIFO = ".fifo"
# What a queue goes back to when the template no longer sets it; the others go back to nothing.
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

    gone = ("AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist")

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

    def _create(self, request: Request) -> str:
        sqs = request.client("sqs")
        attributes = present(request.properties, "FifoQueue", *self._settable)
        taken = arguments(sqs, "CreateQueue", {"Attributes": attributes})
        reply = sqs.create_queue(QueueName=self._name(request), **taken, tags=all_tags(request))
        url: str = reply["QueueUrl"]
        return url

    def _name(self, request: Request) -> str:
        if name := request.properties.get("QueueName"):
            return str(name)
        # SQS wants the ending, and the template may leave the whole name to CloudFormation.
        end = _FIFO if request.properties.get("FifoQueue") in (True, "true") else ""
        return generated_name(request, limit=_NAME_LENGTH - len(end)) + end

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        names = [name for name in self._settable if changed(request, before, name)]
        values = {name: request.properties.get(name, _DEFAULTS.get(name, "")) for name in names}
        if values:
            sqs = request.client("sqs")
            taken = arguments(sqs, "SetQueueAttributes", {"Attributes": values})
            sqs.set_queue_attributes(QueueUrl=physical_id, **taken)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        refuse_unknown(request, ("FifoQueue", "QueueName", "Tags", *self._settable))

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        sqs = request.client("sqs")
        if tags:
            sqs.tag_queue(QueueUrl=physical_id, Tags=tags)
        if stale:
            sqs.untag_queue(QueueUrl=physical_id, TagKeys=stale)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("sqs").get_queue_attributes(
            QueueUrl=physical_id, AttributeNames=["QueueArn"]
        )
        arn: str = reply["Attributes"]["QueueArn"]
        return {"Arn": arn, "QueueName": arn.rpartition(":")[2], "QueueUrl": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("sqs").delete_queue(QueueUrl=physical_id)


@resource("AWS::SQS::QueuePolicy")
class QueuePolicy(Handler):
    """One policy on several queues; its Ref is a generated name."""

    def _create(self, request: Request) -> str:
        return generated_name(request, limit=128)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        document = request.properties["PolicyDocument"]
        for queue in request.properties["Queues"]:
            _set_policy(request, queue, document)
        self._take_off(request, {*before.get("Queues", ())} - {*request.properties["Queues"]})

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Id": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        self._take_off(request, request.properties["Queues"])

    def _take_off(self, request: Request, queues: Iterable[str]) -> None:
        for queue in queues:
            # A queue that went first took its policy with it.
            with forgiving(*Queue.gone):
                _set_policy(request, queue, "")


def _set_policy(request: Request, queue: str, document: Any) -> None:
    sqs = request.client("sqs")
    taken = arguments(sqs, "SetQueueAttributes", {"Attributes": {"Policy": document}})
    sqs.set_queue_attributes(QueueUrl=queue, **taken)
