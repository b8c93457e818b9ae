"""ClusterTopic in a template, and who is told what happens to a cluster."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from trainshed.plan import Fleet, plan_fleet
from trainshed.spec import ClusterSpec
from trainshed_constructs import ClusterTopic

OWN = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


@pytest.fixture
def template() -> Template:
    stack = cdk.Stack()
    ClusterTopic(stack, "Notify", cluster="TrainCluster", addresses=["a@b.example", "c@d.example"])
    return Template.from_stack(stack)


def _conditions(template: Template, kind: str, policy: str) -> Mapping[str, Any]:
    """The conditions of each statement for a service, by the service."""
    [found] = template.find_resources(kind).values()
    return {
        each["Principal"]["Service"]: each.get("Condition")
        for each in found["Properties"][policy]["Statement"]
        if "Service" in each["Principal"]
    }


def test_each_address_is_subscribed_to_an_encrypted_topic(template: Template) -> None:
    [topic] = template.find_resources("AWS::SNS::Topic").values()
    subscriptions = template.find_resources("AWS::SNS::Subscription").values()
    assert topic["Properties"]["KmsMasterKeyId"]
    assert [each["Properties"]["Endpoint"] for each in subscriptions] == [
        "a@b.example",
        "c@d.example",
    ]


@pytest.mark.parametrize(
    ("kind", "policy"),
    [("AWS::SNS::TopicPolicy", "PolicyDocument"), ("AWS::KMS::Key", "KeyPolicy")],
)
def test_services_of_this_account_publish_with_the_key(
    template: Template, kind: str, policy: str
) -> None:
    assert _conditions(template, kind, policy) == {
        "events.amazonaws.com": None,
        "cloudwatch.amazonaws.com": OWN,
        "budgets.amazonaws.com": OWN,
    }


@pytest.mark.parametrize(
    ("notify", "topics"),
    [
        pytest.param({}, 0, id="nobody"),
        pytest.param({"notify": ["ml-platform@example.com"]}, 1, id="addresses"),
        pytest.param({"notify": "arn:aws:sns:us-west-2:123456789012:ops"}, 0, id="existing"),
    ],
)
def test_a_cluster_has_a_topic_for_the_addresses_that_it_names(
    synthesise: Callable[[Fleet], Path], notify: Mapping[str, Any], topics: int
) -> None:
    spec = {
        "name": "OneCluster",
        "region": "us-west-2",
        "instance": {"type": "trn1.32xlarge"},
        **notify,
    }

    assembly = synthesise(plan_fleet([ClusterSpec.model_validate(spec)]))

    resources = json.loads((assembly / "OneCluster.template.json").read_text())["Resources"]
    assert [each["Type"] for each in resources.values()].count("AWS::SNS::Topic") == topics
