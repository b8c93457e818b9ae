"""Who may publish to SNS topics, and who gets what is published."""

import json
from typing import Any
from uuid import uuid4

from embedded_aws.cloudformation.handlers.arguments import arguments
from embedded_aws.cloudformation.handlers.handler import Handler, changed, forgiving, present
from embedded_aws.cloudformation.resource import Properties, Request, resource

_GONE = ("NotFound", "NotFoundException")


@resource("AWS::SNS::TopicPolicy")
class TopicPolicy(Handler):
    """One policy on several topics; a topic that it leaves gets SNS's default one back."""

    def _create(self, request: Request) -> str:
        return f"{request.stack_name}-{request.logical_id}-{uuid4().hex[:12]}"

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        document = request.properties["PolicyDocument"]
        text = document if isinstance(document, str) else json.dumps(document)
        for topic in request.properties["Topics"]:
            _set_policy(request, topic, text)
        for topic in set(before.get("Topics", ())) - {*request.properties["Topics"]}:
            self._restore(request, topic)

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Id": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        for topic in request.properties["Topics"]:
            self._restore(request, topic)

    def _restore(self, request: Request, topic: str) -> None:
        with forgiving(*_GONE):
            _set_policy(request, topic, json.dumps(_default_policy(topic)))


def _set_policy(request: Request, topic: str, text: str) -> None:
    request.client("sns").set_topic_attributes(
        TopicArn=topic, AttributeName="Policy", AttributeValue=text
    )


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
    """Where what is published goes; its Ref is the ARN."""

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
        sns = request.client("sns")
        properties = request.properties
        wanted = {
            **{name: value for name, value in properties.items() if name not in self._settable},
            "Attributes": present(properties, *self._settable),
        }
        taken = arguments(sns, "Subscribe", wanted, leave=("Region",))
        arn: str = sns.subscribe(**taken, ReturnSubscriptionArn=True)["SubscriptionArn"]
        return arn

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        sns = request.client("sns")
        for name in self._settable:
            if changed(request, before, name):
                value = request.properties.get(name, "")
                taken = arguments(sns, "SetSubscriptionAttributes", {"AttributeValue": value})
                sns.set_subscription_attributes(
                    SubscriptionArn=physical_id, AttributeName=name, **taken
                )

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        return {"Arn": physical_id}

    def _delete(self, request: Request, physical_id: str) -> None:
        request.client("sns").unsubscribe(SubscriptionArn=physical_id)
