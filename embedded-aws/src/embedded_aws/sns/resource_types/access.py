"""SNS topic policies and subscriptions."""

from typing import Any
from uuid import uuid4

from embedded_aws.cloudformation.handlers.handler import Handler, forgiving, present
from embedded_aws.cloudformation.resource import Properties, Request, resource
from embedded_aws.sns.resource_types.handler import SnsHandler


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
class Subscription(SnsHandler):
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
