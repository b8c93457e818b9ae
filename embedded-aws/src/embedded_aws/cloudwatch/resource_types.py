"""CloudWatch alarms on metrics."""

from collections.abc import Mapping
from typing import ClassVar

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::CloudWatch::Alarm")
class Alarm(Handler):
    """An alarm; its Ref is the alarm's name."""

    service = "cloudwatch"
    target = name = "AlarmName"
    creation = "PutMetricAlarm", "AlarmName"
    reading = "DescribeAlarms", "MetricAlarms"
    deletion = "DeleteAlarms"
    attributes: ClassVar[Mapping[str, str]] = {"Arn": "AlarmArn"}
    tagging = Tagging(target="ResourceARN", by="Arn")

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        wanted, leave = request.properties, ("AlarmName", "Tags")
        self._call(request, "PutMetricAlarm", wanted, leave=leave, AlarmName=physical_id)
