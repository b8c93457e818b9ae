"""ClusterBudget in a template."""

from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from trainshed_constructs import ClusterBudget

TOPIC = "arn:aws:sns:us-west-2:123456789012:ops"


def _budget(
    at_percent: Sequence[int] = (50, 80),
    topic: str | None = TOPIC,
    cluster: str = "TrainCluster",
    region: str = "us-west-2",
) -> dict[str, Any]:
    stack = cdk.Stack()
    own = cdk.aws_sns.Topic(stack, "Topic").topic_arn
    ClusterBudget(
        stack,
        "Budget",
        cluster=cluster,
        region=region,
        monthly_usd=1000,
        at_percent=at_percent,
        topic_arn=topic or own,
    )
    [found] = Template.from_stack(stack).find_resources("AWS::Budgets::Budget").values()
    budget: dict[str, Any] = found["Properties"]["Budget"]
    return budget


def _name(*args: Any, **changes: Any) -> str:
    return str(_budget(*args, **changes)["BudgetName"])


@pytest.mark.parametrize(
    ("at_percent", "topic"),
    [pytest.param([50], TOPIC, id="percent"), pytest.param([50, 80], None, id="topic")],
)
def test_other_notifications_make_a_budget_of_another_name(
    at_percent: Sequence[int], topic: str | None
) -> None:
    before = _name()

    assert before.startswith("TrainCluster-us-west-2-")
    assert _name() == before
    assert _name(at_percent, topic) != before


def test_clusters_of_one_name_in_two_regions_have_budgets_of_their_own() -> None:
    one, other = _budget(), _budget(region="eu-central-1")

    assert one["BudgetName"] != other["BudgetName"]
    assert [each["CostFilters"]["Region"] for each in (one, other)] == [
        ["us-west-2"],
        ["eu-central-1"],
    ]
    assert one["CostFilters"]["TagKeyValue"] == ["user:trainshed:cluster$TrainCluster"]


def test_the_longest_names_of_clusters_fit_and_differ() -> None:
    longest = "a" + "-a" * 49

    one, other = (_name(cluster=longest[:-1] + last) for last in "ab")

    assert len(one) == len(other) == 100
    assert one != other
