"""SNS topic policies and subscriptions."""

from typing import Any
from uuid import uuid4

from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.resource import Properties, Request, resource

_GONE = ("NotFound", "NotFoundException")


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

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Id": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        for topic in request.properties["Topics"]:
            self._restore(request, topic)

    def _restore(self, request: Request, topic: str) -> None:
        with forgiving(*_GONE):
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
class Subscription(Handler):
    """A subscription; its Ref is the ARN."""

    service = "sns"
    gone = _GONE
    fixed = ("Region",)

    _settable = (
        "DeliveryPolicy",
        "FilterPolicy",
        "FilterPolicyScope",
        "RawMessageDelivery",
        "RedrivePolicy",
        "ReplayPolicy",
        "SubscriptionRoleArn",
    )

    def _create(self, request: Request) -> str:
        properties = request.properties
        wanted = {
            **{name: value for name, value in properties.items() if name not in self._settable},
            "Attributes": present(properties, *self._settable),
        }
        reply = self._call(
            request, "Subscribe", wanted, leave=("Region",), ReturnSubscriptionArn=True
        )
        return str(reply["SubscriptionArn"])

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        for name in self._settable:
            if changed(request, before, name):
                wanted = {
                    "AttributeName": name,
                    "AttributeValue": request.properties.get(name, ""),
                }
                self._call(
                    request, "SetSubscriptionAttributes", wanted, SubscriptionArn=physical_id
                )

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Arn": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("sns").unsubscribe(SubscriptionArn=physical_id)
