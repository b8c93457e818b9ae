"""ClusterBudget in a template."""

from collections.abc import Sequence

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from trainshed_constructs import ClusterBudget

TOPIC = "arn:aws:sns:us-west-2:123456789012:ops"


def _name(at_percent: Sequence[int], topic: str | None) -> str:
    stack = cdk.Stack()
    own = cdk.aws_sns.Topic(stack, "Topic").topic_arn
    ClusterBudget(
        stack,
        "Budget",
        cluster="TrainCluster",
        monthly_usd=1000,
        at_percent=at_percent,
        topic_arn=topic or own,
    )
    [found] = Template.from_stack(stack).find_resources("AWS::Budgets::Budget").values()
    name: str = found["Properties"]["Budget"]["BudgetName"]
    return name


@pytest.mark.parametrize(
    ("at_percent", "topic"),
    [pytest.param([50], TOPIC, id="percent"), pytest.param([50, 80], None, id="topic")],
)
def test_other_notifications_make_a_budget_of_another_name(
    at_percent: Sequence[int], topic: str | None
) -> None:
    before = _name([50, 80], TOPIC)

    assert before.startswith("TrainCluster-")
    assert _name([50, 80], TOPIC) == before
    assert _name(at_percent, topic) != before
