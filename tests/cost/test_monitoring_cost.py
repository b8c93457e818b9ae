"""What the monitoring of a cluster costs beside its nodes."""

import re
from pathlib import Path

import pytest

from trainshed import catalogue
from trainshed.cost import monitoring_cost
from trainshed.plan import load_fleet, make_plan
from trainshed.prices import Purchase, instance_item, load_prices
from trainshed.spec import ClusterSpec

ROOT = Path(__file__).parents[2]
REGION = "us-west-2"
PRICES = load_prices(REGION, ROOT / "no prices.json")
# docs/monitoring.md: of nodes that cost at least so much an hour, monitoring is below 1 %.
LEAST_USD, MOST_PERCENT = 2, 1
SOLD = [
    each
    for each in catalogue.all_types()
    if PRICES.price(instance_item(Purchase.ON_DEMAND, each))
    and REGION in catalogue.regions_offering(each)
]


def percent(instance_type: str, nodes: int) -> float:
    spec = {
        "name": "OneCluster",
        "region": REGION,
        "orchestrator": "ec2",
        "instance": {"type": instance_type, "nodes": {"max": nodes}},
    }
    cost = monitoring_cost(make_plan(ClusterSpec.model_validate(spec)), PRICES)
    assert cost and cost.percent is not None
    return cost.percent


@pytest.mark.parametrize("instance_type", SOLD)
def test_monitoring_costs_less_than_a_hundredth_of_nodes_of_two_dollars(
    instance_type: str,
) -> None:
    price = PRICES.price(instance_item(Purchase.ON_DEMAND, instance_type))
    assert price

    found = percent(instance_type, 1)

    assert (found < MOST_PERCENT) or price.usd < LEAST_USD


def test_the_share_falls_with_the_nodes() -> None:
    assert percent("trn1.32xlarge", 16) < percent("trn1.32xlarge", 1)


def test_each_shipped_cluster_costs_less_than_the_documented_share() -> None:
    page = (ROOT / "docs/monitoring.md").read_text()
    [documented] = re.findall(r"below (\d+) % of nodes that cost (\d+) USD an hour or more", page)

    costs = [
        monitoring_cost(each, PRICES)
        for each in load_fleet(sorted((ROOT / "clusters").glob("*.yaml"))).clusters
    ]

    assert documented == (str(MOST_PERCENT), str(LEAST_USD))
    assert all(each and each.percent and each.percent < MOST_PERCENT for each in costs)


def test_what_is_turned_off_costs_nothing() -> None:
    spec = {
        "name": "OneCluster",
        "region": REGION,
        "monitoring": False,
        "instance": {"type": "trn1.32xlarge"},
    }

    assert monitoring_cost(make_plan(ClusterSpec.model_validate(spec)), PRICES) is None
