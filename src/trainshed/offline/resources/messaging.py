"""SNS topics and EventBridge rules."""

from collections.abc import Mapping
from typing import Any

from trainshed.offline.cloudformation.resource import Properties, Request, resource
from trainshed.offline.resources.arguments import arguments
from trainshed.offline.resources.handler import Handler, changed, present, refuse_unknown
from trainshed.offline.resources.names import given_or_generated
from trainshed.offline.resources.tags import all_tags, tag_list


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


@resource("AWS::Events::Rule")
class Rule(Handler):
    """A rule and its targets; its Ref is the rule's name, with the bus before it if it has one."""

    gone = ("ResourceNotFoundException",)
    fixed = ("EventBusName",)

    def _create(self, request: Request) -> str:
        name = given_or_generated(request, "Name", limit=64)
        self._put(request, name)
        bus = request.properties.get("EventBusName")
        return f"{bus}|{name}" if bus else name

    def _put(self, request: Request, name: str) -> None:
        events = request.client("events")
        taken = arguments(events, "PutRule", request.properties, leave=("Name", "Tags", "Targets"))
        events.put_rule(Name=name, **taken, Tags=tag_list(all_tags(request)))

    def _change(self, request: Request, physical_id: str, before: Properties) -> None:
        self._put(request, self._rule(physical_id)["Rule"])

    def _configure(self, request: Request, physical_id: str, before: Properties) -> None:
        events = request.client("events")
        rule = self._rule(physical_id)
        wanted = request.properties.get("Targets", [])
        ids = [target["Id"] for target in wanted]
        gone = [target["Id"] for target in before.get("Targets", []) if target["Id"] not in ids]
        if gone:
            events.remove_targets(**rule, Ids=gone)
        if wanted:
            events.put_targets(**rule, **arguments(events, "PutTargets", {"Targets": wanted}))

    def _rule(self, physical_id: str) -> dict[str, str]:
        bus, _, name = physical_id.rpartition("|")
        return {"Rule": name} | ({"EventBusName": bus} if bus else {})

    def _attributes(self, request: Request, physical_id: str) -> dict[str, Any]:
        rule = self._rule(physical_id)
        name = rule.pop("Rule")
        reply = request.client("events").describe_rule(Name=name, **rule)
        return {"Arn": reply["Arn"], "RuleName": name}

    def _delete(self, request: Request, physical_id: str) -> None:
        events = request.client("events")
        rule = self._rule(physical_id)
        targets = events.list_targets_by_rule(**rule)["Targets"]
        if targets:
            events.remove_targets(**rule, Ids=[target["Id"] for target in targets])
        name = rule.pop("Rule")
        events.delete_rule(Name=name, **rule)
