"""The dashboard, the alarms and the rules for events of a cluster."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aws_cdk import CfnParameter
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from constructs import Construct

from trainshed.monitoring import (
    PARAMETER,
    QUEUE,
    RULE,
    SCALING_GROUP,
    Alarm,
    EventRule,
    Line,
    MonitoringPlan,
    dashboard_name,
    widget_body,
)

_Alarm = cloudwatch.CfnAlarm


class ClusterMonitoring(Construct):
    """CloudWatch dashboard, alarms and EventBridge rules, as a plan has them.

    All are L1 constructs: the plan has the body of each widget and the metrics of each alarm.

    - Alarms and rules that have a message publish to one topic. Without it, alarms change their
      state, and rules count their events.
    - What an alarm makes of missing data is part of its plan: nodes that are not there send none.

    Follows the CloudWatch API reference, "Dashboard Body Structure and Syntax" and PutMetricAlarm,
    and the EventBridge user guide, "Input transformation".

    Attributes:
        dashboard: the dashboard.

    Example::

        from aws_cdk import App, Stack
        from trainshed.monitoring import monitoring_of
        from trainshed.plan import make_plan
        from trainshed.spec import ClusterSpec, InstanceSpec
        from trainshed_constructs import ClusterMonitoring

        spec = ClusterSpec(
            name="Tiny",
            region="us-west-2",
            orchestrator="ec2",
            instance=InstanceSpec(type="trn1.32xlarge"),
        )
        stack = Stack(App(), "Compute")
        ClusterMonitoring(
            stack,
            "Monitoring",
            cluster="Tiny",
            region="us-west-2",
            plan=monitoring_of(make_plan(spec)),
            topic_arn="arn:aws:sns:us-west-2:123456789012:ml-platform",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str,
        region: str,
        plan: MonitoringPlan,
        topic_arn: str | None = None,
        queue_arn: str | None = None,
        scaling_group: str | None = None,
    ) -> None:
        """Declare them.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: its name, with which those of the dashboard and of alarms begin.
            region: of the cluster, with which the name of the dashboard ends.
            plan: what watches the cluster.
            topic_arn: ARN of the topic for people; None when nobody is told.
            queue_arn: ARN of the job queue, for rules that name it.
            scaling_group: name of the nodes' Auto Scaling group, where the plan does not know it.
        """
        super().__init__(scope, construct_id)
        self._topic_arn = topic_arn
        self._names = {QUEUE: queue_arn, SCALING_GROUP: scaling_group}
        self._parameters: dict[str, str] = {}
        # The name of a rule is too short for that of every cluster.
        self._rules = {each.name: self._rule(each).ref for each in plan.rules}
        body = {
            "widgets": [
                widget_body(replace(widget, lines=self._lines(widget.lines)), number, region)
                for number, widget in enumerate(plan.widgets)
            ]
        }
        self.dashboard = cloudwatch.CfnDashboard(
            self,
            "Dashboard",
            dashboard_name=dashboard_name(cluster, region),
            # What CloudFormation puts in, names and ids, needs no escape in JSON, so that this need
            # not call CDK.
            dashboard_body=json.dumps(body, separators=(",", ":")),
        )
        for alarm in plan.alarms:
            self._alarm(cluster, alarm)

    def _rule(self, rule: EventRule) -> events.CfnRule:
        pattern = self._named(rule.pattern)
        target = None
        if rule.says and self._topic_arn:
            target = events.CfnRule.TargetProperty(
                id="Topic",
                arn=self._topic_arn,
                input_transformer=events.CfnRule.InputTransformerProperty(
                    input_paths_map=rule.paths, input_template=f'"{rule.says}"'
                ),
            )
        return events.CfnRule(
            self,
            _id(rule.name),
            description=f"{rule.description[0].upper()}{rule.description[1:]}",
            event_pattern=pattern,
            targets=[target] if target else None,
        )

    def _alarm(self, cluster: str, alarm: Alarm) -> None:
        _Alarm(
            self,
            _id(alarm.name),
            alarm_name=f"{cluster}-{alarm.name}",
            alarm_description=alarm.says,
            metrics=[_query(line, alarm) for line in self._lines(alarm.lines)],
            comparison_operator="GreaterThanThreshold",
            threshold=alarm.above,
            evaluation_periods=alarm.periods,
            datapoints_to_alarm=alarm.points,
            treat_missing_data=alarm.missing.value,
            alarm_actions=[self._topic_arn] if self._topic_arn else None,
        )

    def _lines(self, lines: tuple[Line, ...]) -> tuple[Line, ...]:
        """Return lines with names in place of what stands for them."""
        return tuple(replace(line, dimensions=self._named(line.dimensions)) for line in lines)

    def _named(self, value: Any) -> Any:
        """Return JSON with names and ARNs in place of what stands for them."""
        if isinstance(value, Mapping):
            return {key: self._named(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._named(each) for each in value]
        if not isinstance(value, str):
            return value
        if value.startswith(RULE):
            return self._rules[value.removeprefix(RULE)]
        if value.startswith(PARAMETER):
            return self._stored(value.removeprefix(PARAMETER))
        return self._names.get(value, value)

    def _stored(self, parameter: str) -> str:
        """Return what a parameter of Parameter Store holds when the stack is deployed."""
        if parameter not in self._parameters:
            # L1: one for all that name it, in fewer calls of CDK's.
            self._parameters[parameter] = CfnParameter(
                self,
                _id(parameter.rpartition("/")[2]),
                type="AWS::SSM::Parameter::Value<String>",
                default=parameter,
            ).value_as_string
        return self._parameters[parameter]


def _query(line: Line, alarm: Alarm) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    stat = None
    if (metric := line.metric) and not line.query:
        stat = _Alarm.MetricStatProperty(
            metric=_Alarm.MetricProperty(
                namespace=metric.namespace,
                metric_name=metric.name,
                dimensions=[
                    _Alarm.DimensionProperty(name=name, value=value)
                    for name, value in line.dimensions.items()
                ],
            ),
            period=alarm.period,
            stat=line.statistic or metric.statistic,
        )
    return _Alarm.MetricDataQueryProperty(
        id=line.id,
        label=line.label or None,
        expression=line.query or line.expression,
        metric_stat=stat,
        period=alarm.period if line.query else None,
        return_data=line.id == alarm.lines[-1].id,
    )


def _id(name: str) -> str:
    """Return the construct id of a name: `lustre-full` gives LustreFull."""
    return name.title().replace("-", "")
