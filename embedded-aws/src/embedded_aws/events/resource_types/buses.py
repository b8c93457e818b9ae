"""EventBridge event buses."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present, refuse_unknown
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::Events::EventBus")
class EventBus(Handler):
    """An event bus with its policy; its Ref is the bus's name."""

    service = "events"
    gone = ("ResourceNotFoundException",)
    fixed = ("DeadLetterConfig", "Description", "KmsKeyIdentifier")
    tagging = Tagging(target="ResourceARN", by="Arn")

    def _create(self, request: Request) -> str:
        refuse_unknown(request, ("EventSourceName", "Name", "Policy", "Tags", *self.fixed))
        wanted = {**request.properties, "Tags": tag_list(all_tags(request))}
        self._call(request, "CreateEventBus", wanted, leave=("Policy",))
        return str(request.properties["Name"])

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "Policy"):
            return
        bus: dict[str, Any] = {"EventBusName": physical_id}
        if "Policy" in request.properties:
            self._call(request, "PutPermission", present(request.properties, "Policy"), **bus)
        else:
            request.client("events").remove_permission(**bus, RemoveAllPermissions=True)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {
            "Arn": request.client("events").describe_event_bus(Name=physical_id)["Arn"],
            "Name": physical_id,
        }

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("events").delete_event_bus(Name=physical_id)
