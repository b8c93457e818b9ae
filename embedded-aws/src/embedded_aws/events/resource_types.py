"""EventBridge event buses and rules."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present
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
    known = ("EventSourceName", "Name", "Policy", "Tags", *fixed)
    tagging = Tagging(target="ResourceARN", by="Arn")

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        if not changed(request, before, "Policy"):
            return
        bus: dict[str, Any] = {"EventBusName": physical_id}
        if "Policy" in request.properties:
            self._call(request, "PutPermission", present(request.properties, "Policy"), **bus)
        else:
            request.client("events").remove_permission(**bus, RemoveAllPermissions=True)


@resource("AWS::Events::Rule")
class Rule(Handler):
    """A rule and its targets; its Ref is the rule's name, with the bus before it if it has one."""

    service = "events"
    name, name_limit = "Name", 64
    creation = "PutRule", "Name"
    later = ("Targets",)
    fixed = ("EventBusName",)
    tagging = Tagging(target="ResourceARN", by="Arn")

    def _create(self, request: Request) -> str:
        name, bus = super()._create(request), request.properties.get("EventBusName")
        return f"{bus}|{name}" if bus else name

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        name = self._rule(physical_id)["Rule"]
        self._call(request, "PutRule", {**self._wanted(request), "Name": name})

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        events = request.client("events")
        rule = self._rule(physical_id)
        wanted = request.properties.get("Targets", [])
        ids = [target["Id"] for target in wanted]
        gone = [target["Id"] for target in before.get("Targets", []) if target["Id"] not in ids]
        if gone:
            events.remove_targets(**rule, Ids=gone)
        if wanted:
            self._call(request, "PutTargets", {"Targets": wanted}, **rule)

    def _rule(self, physical_id: str) -> dict[str, Any]:
        bus, _, name = physical_id.rpartition("|")
        return {"Rule": name} | ({"EventBusName": bus} if bus else {})

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        rule = self._rule(physical_id)
        name = rule.pop("Rule")
        reply = request.client("events").describe_rule(Name=name, **rule)
        return {"Arn": reply["Arn"], "RuleName": name}

    def _delete(self, request: Request, physical_id: str) -> None:
        events = request.client("events")
        rule = self._rule(physical_id)
        targets = events.list_targets_by_rule(**rule)["Targets"]
        if targets:
            events.remove_targets(**rule, Ids=[target["Id"] for target in targets])
        name = rule.pop("Rule")
        events.delete_rule(Name=name, **rule)
