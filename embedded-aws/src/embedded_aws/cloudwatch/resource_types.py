"""CloudWatch alarms on metrics."""

from embedded_aws.cloudformation.handlers.handler import Handler, forgiving
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import HandlerError, Request, resource


@resource("AWS::CloudWatch::Alarm")
class Alarm(Handler):
    """An alarm; its Ref is the alarm's name."""

    service = "cloudwatch"
    target = name = "AlarmName"
    creation = "PutMetricAlarm", "AlarmName"
    changing = "PutMetricAlarm"
    reading = "DescribeAlarms", "MetricAlarms"
    deletion = "DeleteAlarms"
    attributes = {"Arn": "AlarmArn"}
    tagging = Tagging(target="ResourceARN", by="Arn")


@resource("AWS::CloudWatch::Dashboard")
class Dashboard(Handler):
    """A dashboard; its Ref is the dashboard's name.

    PutDashboard replaces one that exists; CloudFormation refuses that
    (ACloudGuru/serverless-plugin-aws-alerts#242).
    """

    service = "cloudwatch"
    target = name = "DashboardName"
    creation = "PutDashboard", "DashboardName"
    changing = "PutDashboard"
    deletion = "DeleteDashboards"

    def _create(self, request: Request) -> str:
        if name := request.properties.get(self.name):
            with forgiving():
                request.client("cloudwatch").get_dashboard(DashboardName=name)
                raise HandlerError(f"Dashboard '{name}' already exists", code="AlreadyExists")
        return super()._create(request)
