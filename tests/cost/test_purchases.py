"""The ways to buy a node: what is paid upfront and a month, and from how many hours it pays."""

from datetime import date

import pytest

from trainshed import catalogue
from trainshed.cost import BoughtNode, bought_node, purchases_of
from trainshed.prices import COMMITMENTS, PURCHASES, Price, PriceList, instance_item, unit_of

TYPE = "trn1.32xlarge"


def bought(purchase: str, usd: float, on_demand: float | None = 20.0, **price: float) -> BoughtNode:
    """A node at a price, where it costs 20 USD on demand."""
    amounts = {"on-demand": on_demand, purchase: usd}
    prices = {
        (item := instance_item(PURCHASES[name], TYPE)): Price(
            usd=amount,
            unit=unit_of(item),
            region="us-west-2",
            date=date(2026, 1, 2),
            source="a test",
            **(price if name == purchase else {}),
        )
        for name, amount in amounts.items()
        if amount is not None
    }
    return bought_node(TYPE, purchase, PriceList(region="us-west-2", prices=prices))


def test_a_commitment_pays_above_the_hours_that_cost_as_much_on_demand() -> None:
    node = bought("reserved-1y-no-upfront", 15)

    # 730 hours at 15 cost what 547.5 hours at 20 do.
    assert (node.break_even_hours, node.month_usd) == (547.5, (15 * 730, 15 * 730))


def test_a_commitment_that_costs_more_than_on_demand_never_pays() -> None:
    assert bought("compute-savings-plan-1y-no-upfront", 25).break_even_hours == 912.5


@pytest.mark.parametrize(
    ("purchase", "price", "upfront"),
    [
        ("reserved-1y-no-upfront", {}, 0),
        # 365 days of 24 hours, and three times that.
        ("reserved-1y-all-upfront", {}, 10 * 8760),
        ("reserved-3y-all-upfront", {}, 10 * 26280),
        # Half of it is usual for a Reserved Instance, but AWS sets the sum.
        ("reserved-1y-partial-upfront", {}, None),
        ("reserved-1y-partial-upfront", {"upfront_usd": 40_000.0}, 40_000),
        # The least that a buyer may choose.
        ("ec2-instance-savings-plan-3y-partial-upfront", {}, 5 * 26280),
        ("compute-savings-plan-1y-no-upfront", {}, 0),
        ("on-demand", {}, 0),
        ("spot", {}, 0),
        ("capacity-block", {}, None),
    ],
)
def test_what_is_paid_upfront(purchase: str, price: dict[str, float], upfront: float) -> None:
    assert bought(purchase, 10, **price).upfront_usd == upfront


def test_what_is_paid_by_use_has_a_range_and_no_break_even() -> None:
    node = bought("spot", 3, usd_to=4.0)

    assert (node.month_usd, node.break_even_hours) == ((3 * 730, 4 * 730), None)


def test_a_capacity_block_is_paid_for_like_a_commitment() -> None:
    assert bought("capacity-block", 5).break_even_hours == 182.5


@pytest.mark.parametrize("purchase", [name for name in PURCHASES if name != "on-demand"])
def test_an_unknown_price_is_never_zero(purchase: str) -> None:
    node = bought_node(TYPE, purchase, PriceList(region="us-west-2", prices={}))

    assert (node.price, node.month_usd, node.break_even_hours) == (None, None, None)
    assert node.upfront_usd is None or purchase == "spot" or purchase.endswith("-no-upfront")
    assert bought(purchase, 10, on_demand=None).break_even_hours is None


def test_commitments_are_of_types_that_are_sold_on_demand() -> None:
    every = {name: purchases_of(catalogue.lookup(name)) for name in catalogue.all_types()}

    assert every[TYPE] == tuple(PURCHASES)
    assert every["p3.16xlarge"] == tuple(name for name in PURCHASES if name != "capacity-block")
    for name, ways in every.items():
        sold = "on-demand" in catalogue.lookup(name).usage_classes
        assert ({*map(str, COMMITMENTS)} <= {*ways}) is sold
