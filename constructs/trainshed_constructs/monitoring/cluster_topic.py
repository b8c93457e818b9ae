"""The SNS topic on which a cluster's people are told what happens to it."""

from collections.abc import Sequence

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_kms as kms
from constructs import Construct

from trainshed_constructs.monitoring.topic import encrypted_topic, let_publish


class ClusterTopic(Construct):
    """Encrypted SNS topic to which alarms, events and budgets of one account publish.

    CloudWatch and AWS Budgets may publish from this account only; EventBridge takes no such
    condition. EventBridge Scheduler publishes with a role, which needs `sns:Publish` on the topic,
    and `kms:Decrypt` and `kms:GenerateDataKey*` on the key.

    Follows the SNS developer guide, "Enable compatibility between event sources from AWS services
    and encrypted topics", and the Cost Management user guide, "Creating an Amazon SNS topic for
    budget notifications".

    Attributes:
        topic: the topic; subscribe more to it than e-mail addresses.
        key: encrypts messages.

    Example::

        from aws_cdk import App, Stack
        from trainshed_constructs import ClusterTopic

        stack = Stack(App(), "Compute")
        ClusterTopic(stack, "Notify", cluster="TrainCluster", addresses=["ml-platform@example.com"])
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: str,
        addresses: Sequence[str],
        kms_key_arn: str | None = None,
    ) -> None:
        """Declare the topic, its key and its subscriptions.

        Args:
            scope: parent.
            construct_id: id within the parent.
            cluster: name of the cluster, which e-mails come from.
            addresses: e-mail addresses; each confirms its subscription once.
            kms_key_arn: key to use; by default a new one. What a new key's policy says has to be in
                it already.
        """
        super().__init__(scope, construct_id)
        self.key: kms.IKey = (
            kms.Key.from_key_arn(self, "Key", kms_key_arn)
            if kms_key_arn
            else kms.Key(
                self,
                "Key",
                description=f"Messages about {cluster}",
                enable_key_rotation=True,
                # It encrypts messages on their way, and nothing that is kept.
                removal_policy=RemovalPolicy.DESTROY,
            )
        )
        self.topic = encrypted_topic(
            self, display_name=f"trainshed {cluster}", key=self.key, addresses=addresses
        )
        let_publish(self.topic, self.key, sid="Events", service="events.amazonaws.com")
        own = {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}}
        for sid, service in (("Alarms", "cloudwatch"), ("Budgets", "budgets")):
            let_publish(
                self.topic,
                self.key,
                sid=sid,
                service=f"{service}.amazonaws.com",
                conditions=own,
            )
