"""Schedules of EventBridge Scheduler."""

import re
from typing import Any, Final

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.resource import HandlerError, Request, resource

# cdk-preflight's rule pf-scheduler-date-format, measured on AWS: CloudFormation's handler wants
# milliseconds, although CreateSchedule takes dates without them.
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z")


@resource("AWS::Scheduler::Schedule")
class Schedule(Handler):
    """A schedule; its Ref is the name."""

    service = "scheduler"
    target = name = "Name"
    name_limit = 64
    creation = "CreateSchedule", "Name"
    changing = "UpdateSchedule"
    fixed = ("GroupName",)

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        for name in ("StartDate", "EndDate"):
            if name in wanted and not _DATE.fullmatch(str(wanted[name])):
                raise HandlerError(
                    f"Invalid request provided: {name} needs to follow the format "
                    "yyyy-MM-ddTHH:mm:ss.SSSZ",
                    code="InvalidRequest",
                )
        return wanted

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Arn": self._found(request, "get_schedule", physical_id)["Arn"]}

    def _delete(self, request: Request, physical_id: str) -> None:
        self._found(request, "delete_schedule", physical_id)

    def _found(self, request: Request, method: str, name: str) -> Any:
        group = request.properties.get("GroupName", "default")
        return getattr(request.client("scheduler"), method)(Name=name, GroupName=group)
