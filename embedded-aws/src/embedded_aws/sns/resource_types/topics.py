"""SNS topics."""

from typing import Any

from embedded_aws.cloudformation.handlers.handler import Handler, changed, present, refuse_unknown
from embedded_aws.cloudformation.handlers.names import given_or_generated
from embedded_aws.cloudformation.handlers.tags import Tagging, all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::SNS::Topic")
class Topic(Handler):
    """A topic and its subscriptions; its Ref is the ARN."""

    service = "sns"
    gone = ("NotFound", "NotFoundException")
    tagging = Tagging(target="ResourceArn")

    _settable = (
        "ArchivePolicy",
        "ContentBasedDeduplication",
        "DisplayName",
        "FifoThroughputScope",
        "FifoTopic",
        "KmsMasterKeyId",
        "SignatureVersion",
        "TracingConfig",
    )

    def _create(self, request: Request) -> str:
        wanted = {
            "Name": given_or_generated(request, "TopicName", limit=256),
            "Attributes": present(request.properties, *self._settable),
            "Tags": tag_list(all_tags(request)),
        }
        return str(self._call(request, "CreateTopic", wanted)["TopicArn"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        for name in self._settable:
            if changed(request, before, name):
                wanted = {
                    "AttributeName": name,
                    "AttributeValue": request.properties.get(name, ""),
                }
                self._call(request, "SetTopicAttributes", wanted, TopicArn=physical_id)

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        refuse_unknown(request, ("Subscription", "Tags", "TopicName", *self._settable))
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
        return {"TopicArn": physical_id, "TopicName": physical_id.rpartition(":")[2]}

    def _delete(self, request: Request, physical_id: str) -> None:
        sns = request.client("sns")
        for subscription in sns.list_subscriptions_by_topic(TopicArn=physical_id)["Subscriptions"]:
            sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])
        sns.delete_topic(TopicArn=physical_id)
