"""AWS's own table of P3, reproduced: sizes of the catalogue, and what follows from its prices.

The prices are those that AWS's page "Amazon EC2 P3 Instances" had for Linux in US East (N.
Virginia). Inferred: the effective ones are for Partial Upfront, as the price list's are, which the
last test compares for the one type that it still has as a Reserved Instance.
"""

from datetime import date
from pathlib import Path

import pytest

from trainshed import catalogue
from trainshed.cost import BoughtNode, bought_node
from trainshed.prices import PURCHASES, Price, PriceList, Purchase, Unit, instance_item, load_prices

DOCS = Path(__file__).parents[2] / "docs" / "cost.md"
YEAR, THREE_YEARS = "reserved-1y-partial-upfront", "reserved-3y-partial-upfront"
# GPUs, vCPUs and memory in GiB; USD an hour on demand, for a year and for three years.
PUBLISHED = {
    "p3.2xlarge": ((1, 8, 61), (3.06, 1.99, 1.05)),
    "p3.8xlarge": ((4, 32, 244), (12.24, 7.96, 4.19)),
    "p3.16xlarge": ((8, 64, 488), (24.48, 15.91, 8.39)),
    "p3dn.24xlarge": ((8, 96, 768), (31.218, 18.30, 9.64)),
}


def published(instance_type: str) -> list[BoughtNode]:
    """A node on demand, and for a year and three years, at the published prices."""
    ways = (Purchase.ON_DEMAND.value, YEAR, THREE_YEARS)
    prices = PriceList(
        region="us-east-1",
        prices={
            instance_item(PURCHASES[way], instance_type): Price(
                usd=usd,
                unit=Unit.HOUR,
                region="us-east-1",
                date=date(2024, 1, 1),
                source="AWS's page of P3",
            )
            for way, usd in zip(ways, PUBLISHED[instance_type][1], strict=True)
        },
    )
    return [bought_node(instance_type, way, prices) for way in ways]


@pytest.mark.parametrize("instance_type", PUBLISHED)
def test_the_catalogue_has_the_published_size(instance_type: str) -> None:
    instance = catalogue.lookup(instance_type)

    size = (instance.accelerator.count, instance.vcpus, instance.memory_mib / 1024)
    assert size == PUBLISHED[instance_type][0]


@pytest.mark.parametrize("instance_type", PUBLISHED)
def test_the_documents_have_the_table_and_what_follows_from_it(instance_type: str) -> None:
    instance = catalogue.lookup(instance_type)
    nodes = published(instance_type)
    on_demand, *commitments = (node.price.usd for node in nodes if node.price)

    cells = [
        instance_type,
        str(instance.accelerator.count),
        str(instance.vcpus),
        f"{instance.memory_mib / 1024:g}",
        f"{on_demand:.3f}".removesuffix("0"),
        *(f"{usd:.2f}" for usd in commitments),
        *(f"{100 * (1 - usd / on_demand):.1f} %" for usd in commitments),
        *(f"{node.break_even_hours or 0:.0f}" for node in nodes[1:]),
        *(f"{usd / instance.accelerator.count:.2f}" for usd in (on_demand, *commitments)),
    ]

    assert f"| {' | '.join(cells)} |" in DOCS.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("instance_type", PUBLISHED)
def test_a_month_at_the_break_even_costs_the_same_both_ways(instance_type: str) -> None:
    on_demand, *commitments = published(instance_type)

    assert on_demand.price
    for node in commitments:
        assert node.month_usd and node.break_even_hours
        assert node.break_even_hours * on_demand.price.usd == pytest.approx(node.month_usd[0])


def test_the_price_list_s_reserved_prices_of_p3dn_are_the_published_ones() -> None:
    prices = load_prices("us-east-1", Path("none.json"))

    found = [bought_node("p3dn.24xlarge", way, prices).price for way in (YEAR, THREE_YEARS)]

    assert [round(price.usd, 2) for price in found if price] == [18.30, 9.64]
