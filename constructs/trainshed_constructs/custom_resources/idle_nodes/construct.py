"""An alarm about nodes that compute nothing, which may let them go."""

import json

from aws_cdk import Aws
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from trainshed.guard.outputs import idle_alarm
from trainshed.metrics import CLUSTER, NODE_METRICS, Metric
from trainshed_constructs.custom_resources.inline_function import inline_function, minutes
from trainshed_constructs.guard.node_switch import NodeSwitch

_Alarm = cloudwatch.CfnAlarm
_PERIOD_MINUTES = 5
_IDLE_PERCENT = 5


class IdleNodes(Construct):
    """Alarm that goes off when no accelerator of a cluster computes while its nodes are there.

    It looks at the busiest accelerator, so that a job on one node of many counts. Nodes that are
    not there send nothing, which is well. A core of Neuron sends its use only while a program uses
    it: a node that sends that of its memory alone is idle, too.

    With `switch`, the alarm calls a function, which makes one call of the API: the nodes go, or may
    go when their job ends.

    Follows the CloudWatch user guide, "Invoke a Lambda function from an alarm" and "Using metric
    math".

    Attributes:
        alarm: the alarm.

    Example::

        from aws_cdk import App, Stack
        from trainshed.metrics import accelerator_metrics
        from trainshed_constructs import IdleNodes, switch_group

        stack = Stack(App(), "Compute")
        neuron = accelerator_metrics("neuron", "ecs")
        IdleNodes(
            stack,
            "Idle",
            cluster="TrainCluster",
            idle_minutes=60,
            utilization=neuron.utilization,
            full_utilization=neuron.full_utilization,
            switch=switch_group("nodes", nodes=4),
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str,
        idle_minutes: int,
        utilization: Metric,
        full_utilization: float,
        topic_arn: str | None = None,
        switch: NodeSwitch | None = None,
    ) -> None:
        """Declare the alarm, and the function if nodes are to go.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: its name, with which that of the alarm begins.
            idle_minutes: after how many minutes it goes off; a multiple of 5, at most a day.
            utilization: how busy an accelerator is.
            full_utilization: its value when it is busy all the time.
            topic_arn: of the SNS topic for people; None when nobody is told.
            switch: how nodes are let go; None to leave them.
        """
        super().__init__(scope, construct_id)
        actions = [topic_arn] if topic_arn else []
        function = self._function(cluster, switch) if switch else None
        if function:
            actions.append(function.function_arn)
        then = "they are let go" if switch else "stop them, or run a job"
        periods = idle_minutes // _PERIOD_MINUTES
        self.alarm = _Alarm(
            self,
            "Alarm",
            alarm_name=idle_alarm(cluster),
            alarm_description=f"For {idle_minutes} minutes no accelerator of {cluster} has been "
            f"more than {_IDLE_PERCENT} % busy while its nodes run: {then}.",
            metrics=[
                _metric("busy", utilization, "Maximum", cluster),
                _metric("samples", NODE_METRICS.memory, "SampleCount", cluster),
                _expression("there", "samples * 0", returned=False),
                _expression("use", "MAX([busy, there])", returned=True),
            ],
            comparison_operator="LessThanThreshold",
            threshold=full_utilization * _IDLE_PERCENT / 100,
            evaluation_periods=periods,
            datapoints_to_alarm=periods,
            treat_missing_data="notBreaching",
            alarm_actions=actions or None,
        )
        if function:
            lambda_.CfnPermission(
                self,
                "LetCloudWatchIn",
                action="lambda:InvokeFunction",
                function_name=function.function_name,
                principal="lambda.alarms.cloudwatch.amazonaws.com",
                source_account=Aws.ACCOUNT_ID,
                source_arn=self.alarm.attr_arn,
            )

    def _function(self, cluster: str, switch: NodeSwitch) -> lambda_.Function:
        return inline_function(
            self,
            name="idle_nodes",
            description=f"Lets idle nodes of {cluster} go",
            statements=[
                iam.PolicyStatement(
                    sid="LetGo", actions=[switch.action], resources=[switch.resource]
                )
            ],
            wildcards={switch.resource: switch.wildcard} if switch.wildcard else {},
            timeout=minutes(1),
            environment={"CALL": json.dumps(switch.let_go), "CLUSTER": cluster},
        )


def _metric(
    query_id: str, metric: Metric, statistic: str, cluster: str
) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    return _Alarm.MetricDataQueryProperty(
        id=query_id,
        return_data=False,
        metric_stat=_Alarm.MetricStatProperty(
            metric=_Alarm.MetricProperty(
                namespace=metric.namespace,
                metric_name=metric.name,
                dimensions=[_Alarm.DimensionProperty(name=CLUSTER, value=cluster)],
            ),
            period=_PERIOD_MINUTES * 60,
            stat=statistic,
        ),
    )


def _expression(
    query_id: str, expression: str, *, returned: bool
) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
    return _Alarm.MetricDataQueryProperty(id=query_id, expression=expression, return_data=returned)
