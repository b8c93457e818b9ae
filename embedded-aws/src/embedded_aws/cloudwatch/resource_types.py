"""CloudWatch's alarms on metrics."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.names import given_or_generated
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::CloudWatch::Alarm")
class Alarm(Handler):
    """An alarm; its Ref is the alarm's name."""

    gone = ("ResourceNotFound",)

    def _create(self, request: Request) -> str:
        name = given_or_generated(request, "AlarmName", limit=255)
        self._put(request, name, Tags=tag_list(all_tags(request)))
        return name

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        self._put(request, physical_id)

    def _put(self, request: Request, name: str, **more: Any) -> None:
        cloudwatch = request.client("cloudwatch")
        leave = ("AlarmName", "Tags")
        taken = arguments(cloudwatch, "PutMetricAlarm", request.properties, leave=leave)
        cloudwatch.put_metric_alarm(AlarmName=name, **taken, **more)

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        cloudwatch = request.client("cloudwatch")
        arn = self._attributes(request, physical_id)["Arn"]
        if tags:
            cloudwatch.tag_resource(ResourceARN=arn, Tags=tag_list(tags))
        if stale:
            cloudwatch.untag_resource(ResourceARN=arn, TagKeys=stale)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        reply = request.client("cloudwatch").describe_alarms(AlarmNames=[physical_id])
        return {"Arn": reply["MetricAlarms"][0]["AlarmArn"]}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("cloudwatch").delete_alarms(AlarmNames=[physical_id])
