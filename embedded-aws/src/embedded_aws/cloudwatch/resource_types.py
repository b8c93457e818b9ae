"""CloudWatch alarms on metrics."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.names import given_or_generated
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::CloudWatch::Alarm")
class Alarm(Handler):
    """An alarm; its Ref is the alarm's name."""

    service = "cloudwatch"
    gone = ("ResourceNotFound",)
    tagging = Tagging(target="ResourceARN", by="Arn")

    def _create(self, request: Request) -> str:
        name = given_or_generated(request, "AlarmName", limit=255)
        self._put(request, name, Tags=tag_list(all_tags(request)))
        return name

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        self._put(request, physical_id)

    def _put(self, request: Request, name: str, **more: Any) -> None:
        wanted, leave = request.properties, ("AlarmName", "Tags")
        self._call(request, "PutMetricAlarm", wanted, leave=leave, AlarmName=name, **more)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("cloudwatch").describe_alarms(AlarmNames=[physical_id])
        return {"Arn": reply["MetricAlarms"][0]["AlarmArn"]}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("cloudwatch").delete_alarms(AlarmNames=[physical_id])
