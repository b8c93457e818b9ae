"""Schedules that stop the nodes of a cluster, and start them."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from trainshed.guard.working_hours import WorkingHours
from trainshed_constructs.guard.node_switch import NodeSwitch
from trainshed_constructs.schedules import (
    action_of,
    allow,
    allow_messages,
    schedule_call,
    schedule_message,
    scheduler_role,
)

_AT = "%Y-%m-%dT%H:%M:%S"
# What people are told before: construct id, how long, in words.
_NOTICES = (
    ("Notice", timedelta(days=1), "in a day"),
    ("LastNotice", timedelta(hours=2), "in two hours"),
)
# Until then, jobs that AWS Batch had given to nodes before have begun: AWS Batch API reference,
# UpdateComputeEnvironment: in a disabled environment, jobs that are STARTING go on, others do not
# begin.
_JOBS_AFTER = timedelta(minutes=5)


class NodeSchedules(Construct):
    """Schedules of EventBridge Scheduler that change the number of a cluster's nodes.

    They make one call of the API of AWS Batch, EC2 Auto Scaling or EKS, and may call one function,
    with a role that may make no other call, and delete nothing. A call that fails is made again for
    a day.

    Attributes:
        role: with which the calls are made.

    Example::

        from datetime import UTC, datetime
        from aws_cdk import App, Stack
        from trainshed_constructs import NodeSchedules, switch_group

        stack = Stack(App(), "Compute")
        schedules = NodeSchedules(
            stack, "Guard", cluster="TrainCluster", switch=switch_group("nodes", nodes=4)
        )
        schedules.expire(datetime(2126, 12, 31, 18, tzinfo=UTC))
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, cluster: str, switch: NodeSwitch
    ) -> None:
        """Declare the role; `expire` and `keep` declare schedules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: name of the cluster.
            switch: how its nodes are stopped and started.
        """
        super().__init__(scope, construct_id)
        self._cluster, self._switch = cluster, switch
        self.role = scheduler_role(self, description=f"Stops and starts the nodes of {cluster}")
        allow(self.role, "Nodes", switch.action, switch.resource, switch.wildcard)

    def expire(self, moment: datetime) -> None:
        """Stop the nodes once.

        Args:
            moment: when, in UTC. EventBridge Scheduler refuses one that has passed (inferred).
        """
        self._switch_at("Expires", f"at({moment:{_AT}})", self._switch.stop)

    def tell_before(self, moment: datetime, topic_arn: str) -> None:
        """Tell people, a day and two hours before a moment, that the nodes will be stopped.

        Args:
            moment: the moment, in UTC.
            topic_arn: of the SNS topic for people.
        """
        allow_messages(self.role, topic_arn)
        for construct_id, before, words in _NOTICES:
            schedule_message(
                self,
                construct_id,
                role=self.role,
                moment=moment - before,
                topic_arn=topic_arn,
                subject=f"Cluster expires {words}: {self._cluster}",
                message=f"The nodes of {self._cluster} are stopped at {moment:%Y-%m-%d %H:%M} "
                "UTC, as guard.expires of its cluster file says, and jobs that run then are "
                "ended. Its data is kept. To keep the nodes, postpone guard.expires, and deploy "
                "before that time.",
            )

    def end_jobs(self, moment: datetime, function: lambda_.IFunction) -> None:
        """Call what ends the jobs that run, once, five minutes after the nodes are stopped.

        For AWS Batch, which lets jobs run on in an environment that is disabled.

        Args:
            moment: when the nodes are stopped, in UTC.
            function: ends the jobs.
        """
        allow(self.role, "EndJobs", "lambda:InvokeFunction", function.function_arn)
        schedule_call(
            self,
            "ExpiresJobs",
            role=self.role,
            expression=f"at({moment + _JOBS_AFTER:{_AT}})",
            target=function.function_arn,
            call={},
        )

    def keep(self, hours: WorkingHours, *, until: datetime | None = None) -> None:
        """Stop and start the nodes, so that they are there in some hours.

        Args:
            hours: in which they are there.
            until: when they are stopped for good, in UTC; None for never.
        """
        days = ",".join(day.upper() for day in hours.days)
        for construct_id, moment, call in (
            ("Begin", hours.begins, self._switch.start),
            ("End", hours.ends, self._switch.stop),
        ):
            expression = f"cron({moment:%-M %-H} ? * {days} *)"
            self._switch_at(construct_id, expression, call, zone=hours.zone, until=until)

    def _switch_at(
        self,
        construct_id: str,
        expression: str,
        call: Mapping[str, Any],
        zone: str = "UTC",
        until: datetime | None = None,
    ) -> None:
        schedule_call(
            self,
            construct_id,
            role=self.role,
            expression=expression,
            target=action_of(*self._switch.target),
            call=call,
            zone=zone,
            until=until,
        )
