"""Messages about a cluster at times that are known."""

from collections.abc import Iterable

from constructs import Construct

from trainshed.monitoring import TimedMessage
from trainshed_constructs.schedules import allow_messages, schedule_message, scheduler_role


class TimedMessages(Construct):
    """Schedules of EventBridge Scheduler that each publish one message to an SNS topic.

    A message whose time has passed is not sent, and stops no deployment.

    Attributes:
        role: with which the messages are published.

    Example::

        from datetime import UTC, datetime
        from aws_cdk import App, Stack
        from trainshed.monitoring import TimedMessage
        from trainshed_constructs import TimedMessages

        stack = Stack(App(), "Compute")
        message = TimedMessage(
            name="block-ends",
            at=datetime(2126, 12, 8, 9, 30, tzinfo=UTC),
            subject="TrainCluster: the Capacity Block ends in two hours",
            says="TrainCluster: the Capacity Block ends at 2126-12-08 11:30 UTC.",
        )
        TimedMessages(
            stack,
            "Messages",
            cluster="TrainCluster",
            messages=[message],
            topic_arn="arn:aws:sns:us-west-2:123456789012:ml-platform",
        )
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str,
        messages: Iterable[TimedMessage],
        topic_arn: str,
    ) -> None:
        """Declare the role and the schedules.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: name of the cluster.
            messages: about it; their names are ids of the schedules.
            topic_arn: of the SNS topic for people.
        """
        super().__init__(scope, construct_id)
        self.role = scheduler_role(self, description=f"Tells people what happens to {cluster}")
        allow_messages(self.role, topic_arn)
        for message in messages:
            schedule_message(
                self,
                message.name,
                role=self.role,
                moment=message.at,
                topic_arn=topic_arn,
                subject=message.subject,
                message=message.says,
            )
