"""SNS topics, their policies and subscriptions."""

from typing import Any, ClassVar
from uuid import uuid4

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.handlers.tags import Tagging
from embedded_aws.cloudformation.resource import Properties, Request, resource


class _SnsHandler(Handler):
    """A handler of a resource whose attributes SNS sets one per call.

    Attributes:
        setter: the operation that sets an attribute.
        settable: the properties that are such attributes.
    """

    service = "sns"
    setter: ClassVar[str]
    settable: ClassVar[tuple[str, ...]]

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        for name in self.settable:
            if changed(request, before, name):
                value = request.properties.get(name, "")
                wanted = {"AttributeName": name, "AttributeValue": value, self.target: physical_id}
                self._call(request, self.setter, wanted)


@resource("AWS::SNS::Topic")
class Topic(_SnsHandler):
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
    known = ("Subscription", "Tags", "TopicName", *settable)

    def _wanted(self, request: Request) -> dict[str, Any]:
        wanted = super()._wanted(request)
        attributes = present(request.properties, *self.settable)
        return {"Name": wanted["TopicName"], "Attributes": attributes, "Tags": wanted["Tags"]}

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
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


@resource("AWS::SNS::TopicPolicy")
class TopicPolicy(Handler):
    """One policy on several topics; a topic that is removed from it gets SNS's default policy."""

    service = "sns"

    def _create(self, request: Request) -> str:
        return f"{request.stack_name}-{request.logical_id}-{uuid4().hex[:12]}"

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        for topic in request.properties["Topics"]:
            self._set_policy(request, topic, request.properties["PolicyDocument"])
        for topic in set(before.get("Topics", ())) - {*request.properties["Topics"]}:
            self._restore(request, topic)

    def _delete(self, request: Request, physical_id: str) -> None:
        for topic in request.properties["Topics"]:
            self._restore(request, topic)

    def _restore(self, request: Request, topic: str) -> None:
        with forgiving():
            self._set_policy(request, topic, _default_policy(topic))

    def _set_policy(self, request: Request, topic: str, document: Any) -> None:
        wanted = {"AttributeName": "Policy", "AttributeValue": document}
        self._call(request, "SetTopicAttributes", wanted, TopicArn=topic)


def _default_policy(topic: str) -> dict[str, Any]:
    """Return the policy of a new topic: its owner may do everything (SNS developer guide)."""
    verbs = (
        *("GetTopicAttributes", "SetTopicAttributes", "AddPermission", "RemovePermission"),
        *("DeleteTopic", "Subscribe", "ListSubscriptionsByTopic", "Publish"),
    )
    return {
        "Version": "2008-10-17",
        "Id": "__default_policy_ID",
        "Statement": [
            {
                "Sid": "__default_statement_ID",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": [f"SNS:{verb}" for verb in verbs],
                "Resource": topic,
                "Condition": {"StringEquals": {"AWS:SourceOwner": topic.split(":")[4]}},
            }
        ],
    }


@resource("AWS::SNS::Subscription")
class Subscription(_SnsHandler):
    """A subscription; its Ref is the ARN."""

    target = "SubscriptionArn"
    creation = "Subscribe", "SubscriptionArn"
    deletion = "Unsubscribe"
    setter = "SetSubscriptionAttributes"
    fixed = ("Region",)

    settable = (
        "DeliveryPolicy",
        "FilterPolicy",
        "FilterPolicyScope",
        "RawMessageDelivery",
        "RedrivePolicy",
        "ReplayPolicy",
        "SubscriptionRoleArn",
    )
    later = ("Region", *settable)

    def _wanted(self, request: Request) -> dict[str, Any]:
        attributes = {"Attributes": present(request.properties, *self.settable)}
        return super()._wanted(request) | attributes | {"ReturnSubscriptionArn": True}
