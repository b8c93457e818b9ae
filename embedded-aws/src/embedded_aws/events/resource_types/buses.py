"""EventBridge's event buses."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed, refuse_unknown
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::Events::EventBus")
class EventBus(Handler):
    """An event bus with its policy; its Ref is the bus's name."""

    gone = ("ResourceNotFoundException",)
    fixed = ("DeadLetterConfig", "Description", "KmsKeyIdentifier")

    def _create(self, request: Request) -> str:
        refuse_unknown(request, ("EventSourceName", "Name", "Policy", "Tags", *self.fixed))
        events = request.client("events")
        leave = ("Policy", "Tags")
        taken = arguments(events, "CreateEventBus", request.properties, leave=leave)
        events.create_event_bus(**taken, Tags=tag_list(all_tags(request)))
        name: str = request.properties["Name"]
        return name

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "Policy"):
            return
        events = request.client("events")
        if "Policy" in request.properties:
            taken = arguments(events, "PutPermission", {"Policy": request.properties["Policy"]})
            events.put_permission(EventBusName=physical_id, **taken)
        else:
            events.remove_permission(EventBusName=physical_id, RemoveAllPermissions=True)

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        events = request.client("events")
        arn = self._attributes(request, physical_id)["Arn"]
        if tags:
            events.tag_resource(ResourceARN=arn, Tags=tag_list(tags))
        if stale:
            events.untag_resource(ResourceARN=arn, TagKeys=stale)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {
            "Arn": request.client("events").describe_event_bus(Name=physical_id)["Arn"],
            "Name": physical_id,
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("events").delete_event_bus(Name=physical_id)
