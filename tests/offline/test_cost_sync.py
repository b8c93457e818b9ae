"""`trainshed cost sync` at the embedded AWS, whose prices are those that trainshed ships."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin_package import write_plugin
from price_list_service import rate

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings
from trainshed.offline.example_prices import example_products
from trainshed.prices import CLOUDWATCH_DASHBOARD, KMS_KEY
from trainshed.prices.lookup import PriceList, load_prices, read, shipped_prices

REGIONS = ("us-east-1", "us-west-2")
RATES = [
    rate("Compute", 1, "No Upfront", "16.0"),
    rate("EC2Instance", 3, "All Upfront", "8.0"),
    rate("EC2Instance", 3, "All Upfront", "1.0", usage="UnusedBox"),
]
PLUGIN = f"""
from embedded_aws.plugins import Plugin

class Rates(Plugin):
    def savings_plan_rates(self):
        return {RATES!r}

PLUGIN = Rates()
"""


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """An embedded AWS with the prices that trainshed ships, and some rates of Savings Plans."""
    folder = tmp_path_factory.mktemp("prices")
    write_plugin(folder, "rates", PLUGIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        server = start(ServerSettings(regions=REGIONS), log=folder / "server.log")
    yield EmbeddedAws(server)
    server.stop()


@pytest.fixture(scope="module")
def synced(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the command has written."""
    path = tmp_path_factory.mktemp("project") / "prices.json"
    program = str(Path(sys.executable).parent / "trainshed")
    regions = [word for region in REGIONS for word in ("--region", region)]
    done = subprocess.run(
        [program, "cost", "sync", "--output", str(path), *regions],
        env=aws.environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return path


def of_a_price_list(prices: PriceList) -> dict[str, float]:
    """Return those of the shipped prices that a price list can tell."""
    return {
        item: price.usd
        for item, price in prices.prices.items()
        # A dashboard has no region in the price list; of keys, whose price is one everywhere, it is
        # not asked.
        if not item.startswith(("spot/", "capacity-block/", CLOUDWATCH_DASHBOARD, KMS_KEY))
        # A term has its upfront fee, which some sources leave out.
        and (price.upfront_usd or not re.search("-(partial|all)-upfront/", item))
    }


@pytest.mark.parametrize("prices", shipped_prices(), ids=lambda prices: str(prices.region))
def test_it_reads_the_shipped_prices_as_examples(synced: Path, prices: PriceList) -> None:
    written = read(synced)[prices.region]

    found = {
        item: record["usd"]
        for item, record in written.items()
        if re.match(r"AWS price list, \w+ EXAMPLE", record["source"])
    }
    assert found == pytest.approx(of_a_price_list(prices), abs=1e-6)


def test_spot_prices_are_those_of_thirty_days(synced: Path) -> None:
    price = load_prices("us-west-2", synced).price("spot/trn1.32xlarge")

    assert price and price.usd_to and 3.68 <= price.usd < price.usd_to <= 3.72
    assert price.source == "EC2 API, DescribeSpotPriceHistory, all zones, 30 days"


def test_savings_plans_have_the_rates_of_their_api(synced: Path) -> None:
    written = read(synced)["us-west-2"]

    found = {item: record["usd"] for item, record in written.items() if "savings-plan" in item}
    assert found == {
        "compute-savings-plan-1y-no-upfront/trn1.32xlarge": 16,
        "ec2-instance-savings-plan-3y-all-upfront/trn1.32xlarge": 8,
    }


def test_usage_types_are_no_patterns() -> None:
    found = {each["product"]["attributes"].get("usagetype", "") for each in example_products()}

    assert not [each for each in found if not re.fullmatch(r"[\w:.-]*", each)]
