"""CloudWatch alarms on metrics."""

from embedded_aws.cloudformation.handlers.handler import Handler
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import resource


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
    """A dashboard; its Ref is the dashboard's name."""

    service = "cloudwatch"
    target = name = "DashboardName"
    creation = "PutDashboard", "DashboardName"
    changing = "PutDashboard"
    deletion = "DeleteDashboards"
