"""SNS topics."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import present, refuse_unknown
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.sns.resource_types.handler import SnsHandler


@resource("AWS::SNS::Topic")
class Topic(SnsHandler):
    """A topic and its subscriptions; its Ref is the ARN."""

    target, name, name_limit = "TopicArn", "TopicName", 256
    creation = "CreateTopic", "TopicArn"
    setter = "SetTopicAttributes"
    tagging = Tagging(target="ResourceArn")

    settable = (
        "ArchivePolicy",
        "ContentBasedDeduplication",
        "DisplayName",
        "FifoThroughputScope",
        "FifoTopic",
        "KmsMasterKeyId",
        "SignatureVersion",
        "TracingConfig",
    )

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        attributes = present(request.properties, *self.settable)
        return {"Name": wanted["TopicName"], "Attributes": attributes, "Tags": wanted["Tags"]}

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        refuse_unknown(request, ("Subscription", "Tags", "TopicName", *self.settable))
        sns = request.client("sns")
        wanted = request.properties.get("Subscription", [])
        known = before.get("Subscription", [])
        ended = [subscription["Endpoint"] for subscription in known if subscription not in wanted]
        for subscription in sns.list_subscriptions_by_topic(TopicArn=physical_id)["Subscriptions"]:
            if subscription["Endpoint"] in ended:
                sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])
        for subscription in wanted:
            if subscription not in known:
                self._call(request, "Subscribe", subscription, TopicArn=physical_id)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"TopicName": physical_id.rpartition(":")[2]}

    def _delete(self, request: Request, physical_id: str) -> None:
        sns = request.client("sns")
        for subscription in sns.list_subscriptions_by_topic(TopicArn=physical_id)["Subscriptions"]:
            sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])
        sns.delete_topic(TopicArn=physical_id)
