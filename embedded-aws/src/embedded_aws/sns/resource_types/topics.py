"""SNS topics."""

from collections.abc import Mapping
from typing import Any

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed, present, refuse_unknown
from embedded_aws.cloudformation.handlers.names import given_or_generated
from embedded_aws.cloudformation.handlers.tags import all_tags, tag_list
from embedded_aws.cloudformation.resource import Properties, Request, resource


@resource("AWS::SNS::Topic")
class Topic(Handler):
    """A topic and its subscriptions; its Ref is the ARN."""

    gone = ("NotFound", "NotFoundException")

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
        sns = request.client("sns")
        name = given_or_generated(request, "TopicName", limit=256)
        attributes = arguments(
            sns, "CreateTopic", {"Attributes": present(request.properties, *self._settable)}
        )
        reply = sns.create_topic(Name=name, **attributes, Tags=tag_list(all_tags(request)))
        arn: str = reply["TopicArn"]
        return arn

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        sns = request.client("sns")
        for name in self._settable:
            if changed(request, before, name):
                value = request.properties.get(name, "")
                taken = arguments(sns, "SetTopicAttributes", {"AttributeValue": value})
                sns.set_topic_attributes(TopicArn=physical_id, AttributeName=name, **taken)

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
                sns.subscribe(TopicArn=physical_id, **arguments(sns, "Subscribe", subscription))

    def _retag(
        self, request: Request, physical_id: str, tags: Mapping[str, str], stale: list[str]
    ) -> None:
        sns = request.client("sns")
        if tags:
            sns.tag_resource(ResourceArn=physical_id, Tags=tag_list(tags))
        if stale:
            sns.untag_resource(ResourceArn=physical_id, TagKeys=stale)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"TopicArn": physical_id, "TopicName": physical_id.rpartition(":")[2]}

    def _delete(self, request: Request, physical_id: str) -> None:
        sns = request.client("sns")
        for subscription in sns.list_subscriptions_by_topic(TopicArn=physical_id)["Subscriptions"]:
            sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])
        sns.delete_topic(TopicArn=physical_id)
