"""EventBridge event buses."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present, refuse_unknown
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::Events::EventBus")
class EventBus(Handler):
    """An event bus with its policy; its Ref is the bus's name."""

    service = "events"
    target = "Name"
    creation = "CreateEventBus", "Name"
    reading = "DescribeEventBus", ""
    deletion = "DeleteEventBus"
    later = ("Policy",)
    fixed = ("DeadLetterConfig", "Description", "KmsKeyIdentifier")
    tagging = Tagging(target="ResourceARN", by="Arn")

    def _create(self, request: Request) -> str:
        refuse_unknown(request, ("EventSourceName", "Name", "Policy", "Tags", *self.fixed))
        return super()._create(request)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "Policy"):
            return
        bus: dict[str, Any] = {"EventBusName": physical_id}
        if "Policy" in request.properties:
            self._call(request, "PutPermission", present(request.properties, "Policy"), **bus)
        else:
            request.client("events").remove_permission(**bus, RemoveAllPermissions=True)
